"""What the formats for machines and web pages share: a finding in words, and text that is safe to quote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.report import Outcome, Report
from gpudoctor.present import figures
from gpudoctor.present.style import printable


def by_code(report: Report) -> dict[str, list[Finding]]:
    """Return the findings of each check, in the order of importance."""
    grouped: dict[str, list[Finding]] = {}
    for finding in report.findings:
        grouped.setdefault(finding.code, []).append(finding)
    return grouped


def to_do(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Return the fixes by which something changes: that a line may be ignored is said by the finding itself."""
    return tuple(each for each in fixes if each.action != "manual" or each.effort_minutes > 0)


def details(finding: Finding) -> Iterator[str]:
    """Yield a finding's lines: what, how sure, the evidence, what explains it, and each fix whole."""
    yield printable(finding.summary)
    yield f"severity {finding.severity.value}, confidence {finding.confidence:.2f} ({printable(finding.basis)})"
    if finding.accepted:
        yield "accepted by the baseline"
    if finding.caused_by is not None:
        yield f"explained by {printable(finding.caused_by)}"
    for item in finding.evidence:
        yield printable(f"{item.label}: {figures.evidence(item)}")
    for fix in to_do(finding.fixes):
        yield printable(f"fix ({figures.gain(fix.gain)}): {fix.title}")
        yield from (f"    {printable(line)}" for line in fix.text.splitlines())


def explained(report: Report, finding: Finding) -> str:
    """Return which other findings this one explains, '' where none."""
    return ", ".join(f"{each.code} {each.slug}" for each in report.findings if each.caused_by == finding.code)


def coverage(report: Report) -> str:
    """Return how many checks judged, of those that had something to judge here."""
    return f"{report.summary.coverage.ran} of {report.summary.coverage.applicable} checks ran"


def counted(report: Report) -> str:
    """Return what became of each check that was asked; the parts add up to all of them."""
    outcomes, covered = Counter(each.status for each in report.checks), report.summary.coverage
    parts = [
        f"{covered.ran} of {covered.applicable} ran",
        f"{outcomes[Outcome.SKIPPED] + outcomes[Outcome.INCONCLUSIVE]} could not judge (reason beside each)",
        f"{outcomes[Outcome.CRASHED]} crashed",
        f"{covered.not_applicable} with nothing to judge here",
    ]
    return ", ".join(each for each in parts if not each.startswith("0 "))


def failed_run(report: Report) -> bool:
    """Return whether this is no report but the document of a run that could not be made."""
    return report.level == "none"
