"""The JSON document of a run that could not be made: same shape as a report, status unknown, and why."""

from __future__ import annotations

from gpudoctor import __version__
from gpudoctor.codec import dumps, report_to_builtins
from gpudoctor.model.report import Coverage, Report, Status, Summary
from gpudoctor.model.snapshot import Snapshot


def document(message: str, code: int) -> str:
    """Return the document for an error message and its exit code."""
    summary = Summary(status=Status.UNKNOWN, headline=message, counts={}, coverage=Coverage(ran=0, total=0))
    report = Report(
        summary=summary,
        snapshot=Snapshot(tool_version=__version__),
        level="none",
        tool={"name": "gpudoctor", "version": __version__, "exit_code": str(code)},
    )
    return dumps(report_to_builtins(report)) + "\n"
