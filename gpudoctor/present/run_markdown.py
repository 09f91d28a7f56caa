"""The report of a run for step summaries and issue comments: the terminal's text, which is short, in a block of its own."""

from __future__ import annotations

import re

from gpudoctor.model.report import Report
from gpudoctor.present import run_text

FENCE = re.compile(r"`{3,}")


def render(report: Report) -> str:
    """Return the document; the fence is longer than any in the text."""
    text = run_text.render(report)
    fence = max((len(run) + 1 for run in FENCE.findall(text)), default=3) * "`"
    return f"## gpudoctor run: {report.summary.status.value}\n\n{fence}text\n{text}{fence}\n"
