"""The stable machine format: what `scan --json` prints on every path."""

from __future__ import annotations

from gpudoctor.codec import dumps, report_to_builtins
from gpudoctor.model.report import Report


def render(report: Report) -> str:
    """Return the report as JSON text, one document with a final newline."""
    return dumps(report_to_builtins(report)) + "\n"
