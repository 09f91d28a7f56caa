"""The report on a terminal: at most 25 lines of 80 columns, the cause first, each fix copyable, what next last.

Commands are never cut: one that does not fit its row gets a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.model.finding import TO_KNOW, Finding, Fix, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import EPOCH
from gpudoctor.model.report import Outcome, Report, Status
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.weight import OPEN
from gpudoctor.present import figures, findings, ladder, unseen
from gpudoctor.present.findings import FULL, Columns
from gpudoctor.present.headers import build_line, is_elsewhere, is_text_alone, machine_line, probe_line, target_line
from gpudoctor.present.lines import counted, to_do
from gpudoctor.present.style import Style, printable, shorten

WIDTH = 80
COLUMNS = Columns(width=WIDTH, title=46, gain=18, more="-v")
HEADLINE_ROOM = 45
VERDICTS = {
    Status.HEALTHY: ("[v]", "HEALTHY"),
    Status.WARNING: ("[!]", "WARNING"),
    Status.BROKEN: ("[x]", "BROKEN"),
    Status.UNKNOWN: ("[?]", "UNKNOWN"),
}
LINES = 25
# evidence, other findings, fixes, ideas: what a crowded report gives up, in this order, until it fits
Budget = tuple[int, int, int, int]
BUDGETS: tuple[Budget, ...] = (
    (3, 3, 3, 2),
    (3, 3, 3, 1),
    (3, 2, 3, 0),
    (3, 2, 2, 0),
    (2, 1, 2, 0),
    (1, 1, 1, 0),
    (0, 0, 1, 0),
)
NAMED = 2  # checks that could not judge, by name; the rest is a number


def render(report: Report, *, style: Style | None = None, verbose: bool = False, target_shown: bool = False) -> str:
    """Return the whole text; `target_shown` leaves out the first line, which was printed while the scan ran."""
    style = style or Style()
    if verbose:
        return _text(report, style, (FULL, FULL, FULL, FULL), verbose=True, target_shown=target_shown)
    room = LINES - int(target_shown)
    texts = (_text(report, style, budget, verbose=False, target_shown=target_shown) for budget in BUDGETS)
    last = ""
    for last in texts:
        if last.count("\n") <= room:
            break
    return last


def _text(report: Report, style: Style, budget: Budget, *, verbose: bool, target_shown: bool) -> str:
    evidence, also, fixes, ideas = budget
    parts: list[list[str]] = [
        [line for line in header(report, target_shown=target_shown) if line],
        ["", *_verdict(report, style)],
        _section(_primary(report, style, evidence)),
        _section(_also(report, style, also)),
        _section(_fixes(report, style, fixes, ideas)),
        _section(_checks(report) if verbose else ()),
        _closing(report, verbose=verbose),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def header(report: Report, *, target_shown: bool = False) -> tuple[str, ...]:
    """Return the lines that say what was examined."""
    lines = (machine_line(report), build_line(report), probe_line(report))
    shown = tuple(shorten(line, WIDTH) for line in lines)
    return shown if target_shown else (shorten(target_line(report.target), WIDTH), *shown)


def _section(lines: Sequence[str] | Iterator[str]) -> list[str]:
    content = list(lines)
    return ["", *content] if content else []


def _verdict(report: Report, style: Style) -> Iterator[str]:
    mark, word = VERDICTS[report.summary.status]
    ran, total = report.summary.coverage.ran, report.summary.coverage.applicable
    paint = {Status.HEALTHY: style.good, Status.BROKEN: style.error}.get(report.summary.status, style.warning)
    headline, coverage = _headline(report), f"{ran} of {total} checks ran"
    if len(mark) + len(word) + len(headline) + len(coverage) + 5 > WIDTH:
        coverage = f"{ran}/{total} checks"
    room = WIDTH - len(mark) - len(word) - len(coverage) - 5
    headline = shorten(headline, room)
    yield f"{paint(f'{mark} {word}')}  {style.bold(headline)}{' ' * (room - len(headline))}  {coverage}"
    if report.summary.expectation:
        yield from findings.wrapped(f"[x] expectation not met: {report.summary.expectation}", "", "    ", WIDTH)
    accepted = report.summary.counts.get("accepted")
    if accepted is not None:
        yield f"Baseline: {accepted} of {len(report.findings)} findings accepted, {len(report.findings) - accepted} new"


def _headline(report: Report) -> str:
    """Return the headline where it fits beside the coverage, else the title of the finding that it speaks of."""
    primary = _primary_of(report)
    long = len(report.summary.headline) > HEADLINE_ROOM
    return primary.title if long and primary is not None else report.summary.headline


def _primary_of(report: Report) -> Finding | None:
    """Return the finding to put first, a new one if there is any; with nothing wrong the note that the headline is."""
    roots = [each for each in report.findings if each.caused_by is None]
    primary = next((each for each in roots if not each.accepted), roots[0] if roots else None)
    if primary is None or primary.severity is not Severity.INFO:
        return primary
    return primary if primary.summary == report.summary.headline else None


def _primary(report: Report, style: Style, evidence: int) -> Iterator[str]:
    primary = _primary_of(report)
    if primary is None:
        return
    yield findings.heading(primary, style, COLUMNS)
    if primary.summary != _headline(report):
        yield from findings.wrapped(primary.summary, "  ", "  ", WIDTH)
    yield from findings.table(report, primary, findings.to_show(primary, evidence), COLUMNS)


def _also(report: Report, style: Style, limit: int) -> Iterator[str]:
    primary = _primary_of(report)
    others = [each for each in report.findings if each.caused_by is None and each is not primary]
    if not others:
        return
    yield style.bold("NOTES" if primary is None else "ALSO")
    yield from findings.others(others, limit, style, COLUMNS)


def _fixes(report: Report, style: Style, limit: int, most_ideas: int) -> Iterator[str]:
    fixes, ideas = _told_apart(report)
    if fixes:
        yield findings.fixes_heading(style, COLUMNS)
        yield from findings.listed(fixes, limit, COLUMNS)
    if fixes and report.not_judged:
        yield shorten(f"Not judged until 1 is done: {', '.join(report.not_judged)}.", WIDTH)
    if ideas and most_ideas:
        yield style.bold("IDEAS") + "  seen on the reference network or the facts, not on your script"
        yield from findings.listed(ideas, most_ideas, COLUMNS)


def _told_apart(report: Report) -> tuple[tuple[Fix, ...], tuple[Fix, ...]]:
    """Return what mends a trouble, and what mere notes offer: nobody should take the second for the first."""
    primary = _primary_of(report)
    notes = {each.code for each in report.findings if each.severity is Severity.INFO and each is not primary}
    troubles = {each.code for each in report.findings if each.severity is not Severity.INFO or each is primary}
    offered = to_do(report.fixes)
    fixes = tuple(each for each in offered if not set(each.addresses) <= notes - troubles)
    return fixes, tuple(each for each in offered if each not in fixes)


def _checks(report: Report) -> Iterator[str]:
    yield f"CHECKS  {counted(report)}"
    for verdict in report.checks:
        yield f"  {verdict.code} {verdict.slug:<24} {verdict.status.value:<13} {printable(verdict.reason)}".rstrip()
    for plugin in report.plugins:
        if plugin.error:
            yield f"  plug-in {printable(plugin.name)} ({printable(plugin.module)}): {printable(plugin.error)}"
    yield from unseen.lines(report.snapshot)
    yield from _ladder(report.snapshot)
    for name, seconds in _times(report.snapshot):
        yield f"  time  {printable(name):<24} {figures.duration(seconds)}"


def _ladder(snapshot: Snapshot) -> Iterator[str]:
    trial = None if snapshot.probe is None else snapshot.probe.trials.get("batch_ladder")
    if trial is not None:
        yield from (f"  ladder  {line} (reference network)" for line in ladder.lines(trial))


def _times(snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """Yield what each source took, then TensorFlow's import in each child of the probe, then each trial."""
    yield from snapshot.timings_s.items()
    if snapshot.probe is None:
        return
    for child in snapshot.probe.children:
        if not isinstance(child.import_s, Missing):
            yield f"import ({child.environment})", child.import_s
    for trial in snapshot.probe.trials.values():
        yield trial.name, trial.duration_s


def _closing(report: Report, *, verbose: bool) -> list[str]:
    lines: list[str] = []
    if not verbose:
        told = (_broken_plugins(report), _crashed(report), unseen.line(report.snapshot, width=WIDTH), _unjudged(report))
        lines.extend(line for line in told if line)
    return [*lines, *_next(report)]


def _broken_plugins(report: Report) -> str:
    broken = [plugin for plugin in report.plugins if plugin.error]
    return shorten("; ".join(f"plug-in {each.name} is broken: {each.error}" for each in broken), WIDTH)


def _crashed(report: Report) -> str:
    """Return the line about checks that are at fault themselves, with the reason of the first: an author must see it."""
    crashed = [each for each in report.checks if each.status is Outcome.CRASHED]
    if not crashed:
        return ""
    more = f" ({len(crashed) - 1} more: -v)" if len(crashed) > 1 else ""
    return shorten(f"Check {crashed[0].code} {crashed[0].slug} crashed{more}: {crashed[0].reason}", WIDTH)


def _unjudged(report: Report) -> str:
    unjudged = [each for each in report.checks if each.status in {Outcome.SKIPPED, Outcome.INCONCLUSIVE}]
    if not unjudged:
        return ""
    names = [each.slug for each in unjudged]
    left = len(names) - NAMED
    tail = f", {left} more; why: -v" if left > 0 else "; why: -v"
    return shorten(f"{len(names)} could not judge: {', '.join(names[:NAMED])}{tail}", WIDTH)


def _trained(snapshot: Snapshot) -> bool:
    """Return whether a text was read in which training goes on: then its pace is the question, and no machine tells it."""
    events = snapshot.log.events if snapshot.log is not None and snapshot.run is None else ()
    return any(each.kind == EPOCH for each in events)


def _next(report: Report) -> list[str]:
    """Return what to do now; on somebody else's machine nothing can be scanned here."""
    primary, there = _primary_of(report), " there" if is_elsewhere(report.target) else ""
    fixes = _told_apart(report)[0]
    if primary is not None and any(each.value == fixes[0].text for each in primary.evidence if fixes):
        return [f"Next: run 1{there}: it tells what to change.  Why: `gpudoctor explain {primary.code}`"]
    if primary is not None and fixes:
        return _apply(report, f"Why: `gpudoctor explain {primary.code}`", there, open_=_is_open(primary))
    if _trained(report.snapshot):
        return [f"Next: `gpudoctor run -- python train.py`{there} tells what each step waits for."]
    if report.level == "quick":
        return [f"Next: `gpudoctor scan`{there} trains the reference probe (about a minute)."]
    if report.summary.status is Status.HEALTHY:
        return ["Nothing to do. All checks: `gpudoctor scan -v`"]
    return ["More: `gpudoctor scan -v` shows every check and what it lacks."]


def _apply(report: Report, why: str, there: str, *, open_: bool) -> list[str]:
    if open_:
        return [f"Next: run the command above{there}, then its fix.  {why}"]
    if is_text_alone(report.target):
        return ["Next: apply 1 there and train again; `gpudoctor log` reads what it then prints.", why]
    return [f"Next: apply 1, then `gpudoctor scan`{there}.  {why}"]


def _is_open(primary: Finding) -> bool:
    """Return whether several causes are possible and one command decides, so that the first fix may be the wrong one."""
    return primary.confidence <= OPEN and any(each.label == TO_KNOW for each in primary.evidence)
