"""The diagnosis in the machine view: the primary finding and the best fixes of the last scan, or how to get them."""

from __future__ import annotations

from gpudoctor.model.report import Report, Status
from gpudoctor.present import figures
from gpudoctor.tui.views.doctor import MARKS
from gpudoctor.tui.views.lines import Line, Span, fit

LABEL = 6


def why_lines(report: Report | None, width: int, height: int) -> list[Line]:
    """Return up to `height` lines: why first, then fixes by rank."""
    if report is None:
        return [
            (
                Span(" WHY  ", "title"),
                Span(fit("not examined yet; ", 18), "dim"),
                Span("r", "key", "app.scan('quick')"),
                Span(" scans without any load", "dim"),
            )
        ]
    primary = next((each for each in report.findings if each.caused_by is None), None)
    if primary is None or report.summary.status in {Status.HEALTHY, Status.UNKNOWN}:
        return [(Span(" WHY  ", "title"), Span(fit(report.summary.headline, width - LABEL)))]
    mark, style = MARKS[primary.severity]
    sure = f"  confidence {primary.confidence:.2f} "
    room = width - LABEL - len(mark) - len(primary.code) - 2 - len(sure)
    lines: list[Line] = [
        (
            Span(" WHY  ", "title"),
            Span(f"{mark} ", style),
            Span(f"{primary.code} ", "strong"),
            Span(fit(primary.summary, room)),
            Span(sure, "dim"),
        )
    ]
    for number, fix in enumerate(report.fixes[: height - 1], start=1):
        gain = f"  {figures.gain(fix.gain)} "
        label = " FIX  " if number == 1 else " " * LABEL
        lines.append(
            (
                Span(label, "title"),
                Span(f"{number} ", "strong"),
                Span(fit(fix.title, width - LABEL - 2 - len(gain))),
                Span(gain, "accent"),
            )
        )
    return [tuple(span._replace(action=span.action or "app.view('doctor')") for span in line) for line in lines]


def why_height(report: Report | None) -> int:
    """Return how many lines it would like."""
    if report is None or not report.findings or report.summary.status in {Status.HEALTHY, Status.UNKNOWN}:
        return 1
    return 1 + min(2, len(report.fixes))
