"""Which findings count, and the exit code: one rule for the command, JUnit and annotations, so that they cannot disagree."""

from __future__ import annotations

from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.report import Report
from gpudoctor.model.words import FailOn

EXIT_CLEAN, EXIT_FINDINGS, EXIT_UNMET = 0, 1, 3
THRESHOLD: dict[FailOn, frozenset[Severity]] = {
    "never": frozenset[Severity](),
    "error": frozenset({Severity.ERROR}),
    "warning": frozenset({Severity.ERROR, Severity.WARNING}),
    "info": frozenset(Severity),
}


def counts(finding: Finding, fail_on: FailOn) -> bool:
    """Return whether the finding is grave enough and not accepted by a baseline."""
    return not finding.accepted and finding.severity in THRESHOLD[fail_on]


def exit_code(report: Report) -> int:
    """Return 3 where an expectation is not met, 1 for findings that count, else 0."""
    if report.summary.expectation:
        return EXIT_UNMET
    return EXIT_FINDINGS if any(counts(each, report.fail_on) for each in report.findings) else EXIT_CLEAN
