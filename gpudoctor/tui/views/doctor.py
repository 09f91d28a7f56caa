"""The doctor's list and its details: findings with symptoms under their cause, ranked fixes, every check.

Order, wording of gains and folding are the report's own; sorting again here would let two doors give two answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpudoctor.model.finding import Finding, Fix, Severity
from gpudoctor.model.report import Outcome, Report, Status, Verdict
from gpudoctor.present import figures
from gpudoctor.tui.messages import Progress
from gpudoctor.tui.views.lines import Line, Span, bar, crop, ends, fit, wrap

MARKS = {Severity.ERROR: ("[x]", "bad"), Severity.WARNING: ("[!]", "warn"), Severity.INFO: ("[i]", "dim")}
VERDICTS = {
    Status.HEALTHY: ("[v] HEALTHY", "good"),
    Status.WARNING: ("[!] WARNING", "warn"),
    Status.BROKEN: ("[x] BROKEN", "bad"),
    Status.UNKNOWN: ("[?] UNKNOWN", "warn"),
}
OUTCOMES = {
    Outcome.FOUND: ("x", "bad"),
    Outcome.PASSED: ("v", "good"),
    Outcome.SKIPPED: ("-", "dim"),
    Outcome.INCONCLUSIVE: ("?", "warn"),
    Outcome.CRASHED: ("#", "bad"),
}
LABEL = 26
PROGRESS_BAR = 24


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the list; a heading is not to be chosen."""

    line: Line
    subject: Finding | Fix | Verdict | None = None

    @property
    def heading(self) -> bool:
        """Return whether it only parts the list."""
        return self.subject is None


def items(report: Report, width: int) -> list[Item]:
    """Return the list: findings, fixes, checks."""
    found = [_finding(each, width) for each in report.findings]
    fixes = [_fix(number, each, width) for number, each in enumerate(report.fixes, start=1)]
    listed = [_heading("FINDINGS", width), *(found or [Item((Span("  none", "dim"),))])]
    if fixes:
        listed += [_heading("FIXES by rank: troubles, then notes", width), *fixes]
    ran = f"{report.summary.coverage.ran} of {report.summary.coverage.applicable} ran"
    return [*listed, _heading(f"CHECKS  {ran}", width), *(_check(each, width) for each in report.checks)]


def _heading(text: str, width: int) -> Item:
    return Item((Span(fit(f" {text}", width), "head"),))


def _finding(finding: Finding, width: int) -> Item:
    mark, style = MARKS[finding.severity]
    lead = "  └ " if finding.caused_by is not None else " "
    head = f"{lead}{mark} "
    words = f"{finding.code} {finding.summary or finding.title}"
    return Item((Span(head, style), Span(fit(words, width - len(head)))), finding)


def _fix(number: int, fix: Fix, width: int) -> Item:
    tail = f" {figures.gain(fix.gain)} "
    room = width - len(tail) - 4
    return Item((Span(f" {number:<3}", "strong"), Span(fit(fix.title, room)), Span(tail, "accent")), fix)


def _check(verdict: Verdict, width: int) -> Item:
    sign, style = OUTCOMES[verdict.status]
    text = f"{verdict.code} {verdict.slug}"
    tail = f" {verdict.status.value} "
    return Item(
        (Span(f"  {sign} ", style), Span(fit(text, width - 4 - len(tail))), Span(tail, style)),
        verdict,
    )


def verdict_line(report: Report, width: int) -> Line:
    """Return the answer in one line."""
    word, style = VERDICTS[report.summary.status]
    ran, total = report.summary.coverage.ran, report.summary.coverage.applicable
    level = f"{ran}/{total} checks, level {report.level} "
    room = max(0, width - len(word) - len(level) - 5)
    return ends(
        (Span(f" {word}", style), Span("  "), Span(fit(report.summary.headline, room), "strong")),
        (Span(level, "dim"),),
        width,
    )


def progress_line(title: str, progress: Progress, seconds: float, width: int) -> Line:
    """Return how far the examination is."""
    share = progress.done / progress.total if progress.total else 0.0
    counted = f"{progress.done}/{progress.total} {progress.trial}" if progress.total else "collecting facts"
    left = f"about {progress.left_s:.0f} s left" if progress.total else f"{seconds:.0f} s"
    spans = (
        Span(f" {title}  ", "strong"),
        *bar(share, PROGRESS_BAR),
        Span(f"  {counted}  {left}  "),
        Span("Esc", "key", "app.cancel_scan"),
        Span(" cancels", "dim"),
    )
    return crop(spans, width)


def nothing_yet(width: int, failure: str = "") -> list[Line]:
    """Return what stands before the first scan: nothing runs by itself."""
    texts = [
        *([("! " + failure, "bad"), ("", "")] if failure else []),
        ("Nothing was examined yet; nothing runs unasked.", "strong"),
        ("", ""),
        ("r  quick scan: facts only, under a second, no load on the GPU", ""),
        ("R  scan: also trains the reference network, about a minute (asks first)", ""),
        ("b  one trial of the reference network (asks first)", ""),
        ("", ""),
        ("A finding is shown with its evidence and its cause; fixes are ranked by what they bring.", "dim"),
    ]
    return [(Span(f"  {line}", style),) for text, style in texts for line in wrap(text, width - 4)]


def details(
    subject: Finding | Fix | Verdict | None, report: Report, pages: Mapping[str, str], width: int
) -> list[Line]:
    """Return everything about the chosen entry."""
    if isinstance(subject, Finding):
        return list(_about_finding(subject, report, width))
    if isinstance(subject, Fix):
        return list(_about_fix(subject, report, width))
    if isinstance(subject, Verdict):
        return list(_about_check(subject, pages, width))
    return []


def _text(text: str, width: int, style: str = "", indent: str = " ") -> Iterator[Line]:
    for line in wrap(text, max(8, width - len(indent) - 1)):
        yield (Span(f"{indent}{line}", style),)


def _row(label: str, value: str, width: int) -> Iterator[Line]:
    column = min(LABEL, width // 3)
    first, *rest = wrap(value, max(8, width - column - 3)) or [""]
    yield (Span(f" {fit(label, column)} ", "dim"), Span(first))
    for line in rest:
        yield (Span(" " * (column + 2)), Span(line))


def _about_finding(finding: Finding, report: Report, width: int) -> Iterator[Line]:
    mark, style = MARKS[finding.severity]
    yield (Span(f" {mark} {finding.code} {finding.slug}", style),)
    yield from _text(finding.summary, width, "strong")
    yield ()
    yield from _row("severity", finding.severity.value, width)
    yield from _row("confidence", f"{finding.confidence:.2f} ({finding.basis})", width)
    yield from _row("cause", finding.cause, width)
    if finding.caused_by is not None:
        yield from _row("explained by", finding.caused_by, width)
    explains = [f"{each.code} {each.slug}" for each in report.findings if each.caused_by == finding.code]
    if explains:
        yield from _row("explains", ", ".join(explains), width)
    if finding.location is not None:
        yield from _row("where", f"{finding.location.file}:{finding.location.line}", width)
        yield from _text(finding.location.snippet, width, "accent", "   ")
    if finding.evidence:
        yield ()
        yield (Span(" EVIDENCE", "title"),)
    for item in finding.evidence:
        source = f"  [{item.source}]" if item.source else ""
        yield from _row(item.label, f"{figures.evidence(item)}{source}", width)
    yield from _fixes_of(finding, report, width)


def _fixes_of(finding: Finding, report: Report, width: int) -> Iterator[Line]:
    numbers = [(number, fix) for number, fix in enumerate(report.fixes, start=1) if finding.code in fix.addresses]
    if not numbers:
        return
    yield ()
    yield (Span(" FIXES", "title"),)
    for number, fix in numbers:
        yield (Span(f" {number} ", "strong"), Span(fix.title), Span(f"  {figures.gain(fix.gain)}", "accent"))
        yield from _text(fix.text, width, "good", "     ")


def _about_fix(fix: Fix, report: Report, width: int) -> Iterator[Line]:
    yield from _text(fix.title, width, "strong")
    yield ()
    yield from _text(fix.text, width, "good", "   ")
    yield ()
    yield from _row("gain", figures.gain(fix.gain), width)
    if fix.gain.basis:
        yield from _row("it rests on", fix.gain.basis, width)
    yield from _row("effort", figures.effort(fix.effort_minutes), width)
    yield from _row("risk", fix.risk, width)
    yield from _row("kind", fix.action, width)
    yield from _row("addresses", ", ".join(fix.addresses), width)
    yield ()
    yield (Span(" c", "key", "screen.copy"), Span(" copies the text above; apply it, then r scans again", "dim"))
    if report.not_judged and report.fixes and fix is report.fixes[0]:
        yield from _text(f"Not judged until this is done: {', '.join(report.not_judged)}.", width, "dim")


def _about_check(verdict: Verdict, pages: Mapping[str, str], width: int) -> Iterator[Line]:
    sign, style = OUTCOMES[verdict.status]
    yield (Span(f" {sign} {verdict.code} {verdict.slug}: {verdict.status.value}", style),)
    yield from _text(verdict.title, width, "strong")
    if verdict.reason:
        yield from _row("why", verdict.reason, width)
    yield from _row("trials weighed", ", ".join(verdict.trials) or "none", width)
    yield ()
    yield from _text(pages.get(verdict.code, ""), width, "dim")


def text_to_copy(subject: Finding | Fix | Verdict | None, report: Report) -> str:
    """Return what `c` copies: the fix itself, the best fix of a finding, or the best of all."""
    if isinstance(subject, Fix):
        return subject.text
    code = subject.code if isinstance(subject, (Finding, Verdict)) else ""
    fixes: Sequence[Fix] = [each for each in report.fixes if code in each.addresses] or report.fixes
    return fixes[0].text if fixes else ""
