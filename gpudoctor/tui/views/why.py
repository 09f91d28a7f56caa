"""The diagnosis in the machine view: the primary finding and the best fixes of the last scan, or how to get them."""

from __future__ import annotations

from gpudoctor.model.finding import Fix
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.report import Report, Status
from gpudoctor.present import figures
from gpudoctor.tui.messages import Reading
from gpudoctor.tui.views import words
from gpudoctor.tui.views.doctor import MARKS
from gpudoctor.tui.views.lines import Line, Span, fit

LABEL = 6
TROUBLE = "x!"  # signs of `words.state`, worst first
EXAMINES = " examines"
OVER_THE_RUN, WIDE = "over the run, ", 100


def why_lines(report: Report | None, width: int, height: int, reading: Reading | None = None) -> list[Line]:
    """Return up to `height` lines: why first, then fixes by rank, those for the why before others.

    Before anything was examined, the reading itself says which GPU is in trouble.
    """
    trouble = _of_reading(reading) if report is None else ""
    if trouble:
        return [_unexamined(trouble, width)]
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
    of = OVER_THE_RUN if report.level == "run" and width >= WIDE else ""  # the figures above are of this moment
    sure = f"  {of}confidence {primary.confidence:.2f} "
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
    ranked = sorted(enumerate(report.fixes, start=1), key=lambda each: primary.code not in each[1].addresses)
    lines += [
        _fix(number, fix, width, " FIX  " if place == 0 else " " * LABEL)
        for place, (number, fix) in enumerate(ranked[: max(0, height - 1)])
    ]
    return [tuple(span._replace(action=span.action or "app.view('doctor')") for span in line) for line in lines]


def _fix(number: int, fix: Fix, width: int, label: str) -> Line:
    gain = f"  {figures.gain(fix.gain)} "
    return (
        Span(label, "title"),
        Span(f"{number} ", "strong"),
        Span(fit(fix.title, width - LABEL - 2 - len(gain))),
        Span(gain, "accent"),
    )


def _of_reading(reading: Reading | None) -> str:
    """Return the worst of what the GPUs themselves show, and on how many more there is something; '' for nothing."""
    if reading is None:
        return ""
    if not reading.gpus and not isinstance(reading.nvml.status, Missing) and reading.nvml.status != "ok":
        return f"NVML: {reading.nvml.status.replace('_', ' ')}"
    found: list[tuple[int, str]] = []
    for gpu in reading.gpus:
        sign, text, _ = words.state(gpu, reading.xids.get(either(gpu.pci, ""), ()))
        if sign in TROUBLE:
            found.append((TROUBLE.index(sign), f"GPU {gpu.index}: {text}{_heat(gpu)}"))
    more = f"; {len(found) - 1} more" if len(found) > 1 else ""
    return f"{min(found)[1]}{more}" if found else ""


def _heat(gpu: Gpu) -> str:
    """Return how warm it is and where it slows, where heat is what slows it."""
    hot = any("Thermal" in each for each in either(gpu.throttle_reasons, ()))
    if not hot or isinstance(gpu.temperature_c, Missing):
        return ""
    limit = gpu.temperature_slowdown_c
    return f" ({gpu.temperature_c} C" + ("" if isinstance(limit, Missing) else f", slows at {limit}") + ")"


def _unexamined(trouble: str, width: int) -> Line:
    room = max(0, width - LABEL - len(EXAMINES) - 4)
    return (
        Span(" WHY  ", "title"),
        Span(fit(trouble, min(room, len(trouble))), "strong"),
        Span("  "),
        Span("r", "key", "app.scan('quick')"),
        Span(EXAMINES, "dim"),
    )


def why_height(report: Report | None) -> int:
    """Return how many lines it would like."""
    if report is None or not report.findings or report.summary.status in {Status.HEALTHY, Status.UNKNOWN}:
        return 1
    return 1 + min(2, len(report.fixes))
