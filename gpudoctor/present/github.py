"""GitHub Actions annotations. GitHub shows ten of a kind a step, so symptoms stand in the line of what explains them.

Everything foreign is escaped: in a job's log a line that starts with `::`, or holds `##[`, is a command to the runner.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.diagnose.gate import counts
from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.report import Outcome, Report
from gpudoctor.present import lines
from gpudoctor.present.style import printable

KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """Return the annotations, gravest first, then one plain line for the log."""
    if lines.failed_run(report):
        return annotation("error", report.summary.headline, title="gpudoctor could not run") + "\n"
    return "\n".join([*_annotations(report), _last(report)]) + "\n"


def _annotations(report: Report) -> Iterator[str]:
    if report.summary.expectation:
        yield annotation("error", report.summary.expectation, title="expectation not met")
    told = {each.code for each in report.findings if counts(each, report.fail_on)}
    for finding in report.findings:
        if finding.caused_by is None or (finding.code in told and finding.caused_by not in told):
            yield _of(report, finding)
    for verdict in report.checks:
        if verdict.status is Outcome.CRASHED:
            yield annotation("warning", verdict.reason, title=f"{verdict.code} {verdict.slug} crashed")
    for plugin in report.plugins:
        if plugin.error:
            yield annotation("warning", plugin.error, title=f"plug-in {plugin.name} is broken")


def _of(report: Report, finding: Finding) -> str:
    place: dict[str, str] = {}
    if finding.location is not None:
        place = {"file": finding.location.file, "line": str(finding.location.line)}
        if finding.location.end_line is not None:
            place["endLine"] = str(finding.location.end_line)
    kind = "notice" if finding.accepted else KINDS[finding.severity]
    title = f"{finding.code} {finding.slug}{' (accepted)' if finding.accepted else ''}"
    return annotation(kind, "\n".join(_said(report, finding)), **place, title=title)


def _said(report: Report, finding: Finding) -> Iterator[str]:
    yield finding.summary
    explains = lines.explained(report, finding)
    if explains:
        yield f"explains {explains}"
    if finding.caused_by is not None:
        yield f"explained by {finding.caused_by}"
    for fix in lines.to_do(finding.fixes)[:1]:
        yield f"fix: {fix.title}"
        yield from fix.text.splitlines()


def _last(report: Report) -> str:
    text = f"gpudoctor: {report.summary.status.value}, {lines.coverage(report)}: {report.summary.headline}"
    return printable(text).replace("##[", "# #[")


def annotation(kind: str, message: str, **properties: str) -> str:
    """Return one workflow command."""
    words = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{kind} {words}::{_data(message)}"


def _data(text: str) -> str:
    shown = "\n".join(printable(line) for line in text.splitlines())
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
