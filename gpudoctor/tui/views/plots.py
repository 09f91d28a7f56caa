"""History plots of one GPU: four small ones, so that a drop of one figure is seen beside what the others did then."""

from __future__ import annotations

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Missing, either
from gpudoctor.tui.history import History, Limits
from gpudoctor.tui.views import words
from gpudoctor.tui.views.lines import Line, Span, columns, fit, fit_right

GAP = 2
TWO_ABREAST_FROM = 76
WATTS_WHERE_NO_LIMIT_IS_TOLD = 500.0  # the scale only, where NVML tells no limit
TOP_C = 100.0


def plot_lines(gpu: Gpu | None, history: History, span_s: int, width: int, height: int) -> list[Line]:
    """Return the plots in `height` lines: two abreast on a wide screen, and only as many as fit."""
    if gpu is None or height < 2:
        return [(Span(""),)] * max(height, 0)
    abreast = 2 if width >= TWO_ABREAST_FROM else 1
    each_width = (width - GAP * (abreast - 1) - 1) // abreast
    rows = max(1, min(len(_PLOTS) // abreast, height // 3))
    each_height = height // rows
    lines: list[Line] = []
    for row in range(rows):
        plots = [
            _plot(gpu, history, span_s, name, (each_width, each_height)) for name in _PLOTS[row * abreast :][:abreast]
        ]
        for parts in zip(*plots, strict=True):
            spans: list[Span] = [Span(" ")]
            for place, part in enumerate(parts):
                spans += ([Span(" " * GAP)] if place else []) + list(part)
            lines.append(tuple(spans))
    lines += [(Span(""),)] * (height - len(lines))
    return lines


_PLOTS = ("kernel", "power", "memory", "temperature")


def _plot(gpu: Gpu, history: History, span_s: int, name: str, size: tuple[int, int]) -> list[Line]:
    width, height = size
    title, now, top = _scale(gpu, name, history.limits(gpu))
    values = history.columns(gpu.index, name, span_s, min(width, span_s))
    shares = [
        None if each is None else each / top for each in (values[at * len(values) // width] for at in range(width))
    ]
    heading = fit(title, width - len(now))
    style = "plot" if name in {"kernel", "memory"} else "plot-second"
    return [
        (Span(heading, "dim"), Span(now, "strong")),
        *((Span(row, style),) for row in columns(shares, height - 1)),
    ]


def _scale(gpu: Gpu, name: str, limits: Limits) -> tuple[str, str, float]:
    """Return heading, present figure and the value at the top."""
    if name == "kernel":
        return f"GPU {gpu.index} a kernel ran, 0-100 %", words.amount(gpu.utilization.gpu_percent, " %"), 100.0
    if name == "power":
        limit = either(limits.power_w, 0.0)  # a limit of 0 W is none
        top = limit if limit > 0 else WATTS_WHERE_NO_LIMIT_IS_TOLD
        if limit <= 0 and isinstance(gpu.power.draw_w, Missing):
            return "power", words.UNKNOWN, top
        return f"power, 0-{top:.0f} W", words.amount(gpu.power.draw_w, " W"), top
    if name == "memory":
        total = either(limits.memory_bytes, 0) or words.GIB
        if isinstance(gpu.memory.used_bytes, Missing):
            known = "memory" if isinstance(limits.memory_bytes, Missing) else f"memory, 0-{words.gib(total)} GiB"
            return known, words.UNKNOWN, float(total)
        return f"memory, 0-{words.gib(total)} GiB", f"{words.gib(gpu.memory.used_bytes)} GiB", float(total)
    limit_c = limits.slowdown_c
    slow = "" if isinstance(limit_c, Missing) else f", slows at {limit_c}"
    return f"temperature, 0-100 C{slow}", words.amount(gpu.temperature_c, " C"), TOP_C


def span_words(span_s: int) -> str:
    """Return the span as people say it."""
    return f"{span_s // 60} min" if span_s < 3600 else f"{span_s // 3600} h"


def rule(title: str, right: str, width: int) -> Line:
    """Return a heading with a line across."""
    room = max(0, width - len(title) - len(right) - 5)
    return (
        Span(" "),
        Span(title, "title"),
        Span(" " + "─" * room + " ", "track"),
        Span(fit_right(right, len(right)), "dim"),
        Span("  " if right else ""),
    )
