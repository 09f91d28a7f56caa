"""Step time over time, as stacked columns: what a step's time went into, in signs that need no colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.run import StepTimes
from gpudoctor.present import figures
from gpudoctor.tui.run_news import Column
from gpudoctor.tui.views.lines import FULL_BLOCKS, Line, Span, columns, crop, fit, fit_right, width_of

USUAL_SHARE = 0.97  # display only: longer steps are cut at the top of the plot
MARKED_FROM = 6  # lines, from which the middle of the scale is told
AXIS = 8  # cells for the figures at the left
ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0)  # tops of the scale that are easy to halve


class Layer(NamedTuple):
    """A part of a step. `sign`: what fills its cells."""

    name: str
    sign: str
    style: str

    def of(self, column: Column) -> float:
        """Return this part of a column, in seconds."""
        parts = {"input": column.input, "host": column.host, "device": column.device}
        return parts.get(self.name, column.other)


LAYERS = (
    Layer("input", "█", "input"),
    Layer("host", "▒", "host"),
    Layer("device", "▓", "device"),
    Layer("other", "░", "other"),
)


def plot_lines(told: Sequence[Column | None], width: int, height: int) -> list[Line]:
    """Return the plot: a column of the screen for each column told, the newest at the right."""
    room = max(1, width - AXIS - 1)
    shown = [None] * max(0, room - len(told)) + list(told[-room:])
    top = scale_top(_usual([each.step_s for each in shown if each is not None]))
    stacks = [_stack(each, top, height) for each in shown]
    return [_row(stacks, height - 1 - at, _mark(at, height, top)) for at in range(height)]


def _usual(steps: Sequence[float]) -> float:
    """Return the longest step but for the few that would flatten all others: the first one holds tracing and compiling."""
    ordered = sorted(steps)
    return ordered[int((len(ordered) - 1) * USUAL_SHARE)] if ordered else 0.0


def scale_top(most: float) -> float:
    """Return a round value not below `most`."""
    if most <= 0:
        return 0.1
    power = 10.0 ** int(f"{most:e}".partition("e")[2])
    return next(each * power for each in ROUND if each * power >= most * 0.999)


def _mark(at: int, height: int, top: float) -> str:
    """Return the figure at the upper edge of a line; 0 stands at the lower edge of the last one."""
    if at == 0:
        return figures.duration(top)
    if at == height - 1:
        return "0"
    return figures.duration(top / 2) if height >= MARKED_FROM and 2 * at == height - height % 2 else ""


def _stack(column: Column | None, top: float, height: int) -> str:
    """Return the signs of a column, from the bottom up: parts get cells by largest remainder, none is lost by rounding."""
    if column is None:
        return ""
    parts = [layer.of(column) / top * height for layer in LAYERS]
    cells = min(height, max(1, round(sum(parts))))
    whole = [int(each) for each in parts]
    order = sorted(range(len(parts)), key=lambda at: whole[at] - parts[at])
    for at in (order * 2)[: max(0, cells - sum(whole))]:
        whole[at] += 1
    return "".join(layer.sign * count for layer, count in zip(LAYERS, whole, strict=True))[:height]


_STYLES = {layer.sign: layer.style for layer in LAYERS}


def _row(stacks: Sequence[str], level: int, mark: str) -> Line:
    spans = [Span(f"{fit_right(mark, AXIS - 1)} ", "dim"), Span("│" if mark else "╵", "track")]
    for stack in stacks:
        sign = stack[level] if level < len(stack) else " "
        style = _STYLES.get(sign, "")
        if spans[-1].style == style and len(spans) > 2:
            spans[-1] = Span(spans[-1].text + sign, style)
        else:
            spans.append(Span(sign, style))
    return tuple(spans)


def legend_line(steps: StepTimes | None, told: Sequence[Column | None], width: int) -> Line:
    """Return what each sign means, with its part of the newest steps; lengths only where all of them fit."""
    long, short = (_legend(steps, told, lengths=lengths) for lengths in (True, False))
    return long if width_of(long) <= width else crop(short, width)


def _legend(steps: StepTimes | None, told: Sequence[Column | None], *, lengths: bool) -> Line:
    last = next((each for each in reversed(told) if each is not None), None)
    no_gpu = steps is not None and isinstance(steps.shares.device, Missing)
    spans: list[Span] = [Span(" " * AXIS)]
    for layer in LAYERS:
        if layer.name == "device" and no_gpu:
            continue
        name = "TensorFlow" if layer.name == "other" and no_gpu else layer.name
        part = 0.0 if last is None else layer.of(last)
        share = "" if last is None or last.step_s <= 0 else f"{part / last.step_s:.0%}"
        length = f" {_ms(part)}" if lengths and last is not None else ""
        spans += (
            Span(f" {layer.sign}{layer.sign} ", layer.style),
            Span(f"{name} ", "dim"),
            Span(f"{share}{length} ", "strong"),
        )
    return tuple(spans)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def pace_lines(told: Sequence[Column | None], width: int, height: int) -> list[Line]:
    """Return steps per second over time."""
    room = max(1, width - AXIS - 1)
    shown = [None] * max(0, room - len(told)) + list(told[-room:])
    most = max((each.steps_per_s for each in shown if each is not None), default=0.0)
    rows = columns([None if each is None or not most else each.steps_per_s / most for each in shown], height)
    marks = [f"{most:.3g}/s" if at == 0 else "" for at in range(height)]
    return [
        (Span(f"{fit_right(mark, AXIS - 1)} ", "dim"), Span("│" if mark else "╵", "track"), Span(row, "plot"))
        for mark, row in zip(marks, rows, strict=True)
    ]


def share_bar(share: Maybe[float], width: int) -> str:
    """Return a short bar for a share in a table."""
    if isinstance(share, Missing):
        return fit("", width)
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return fit("█" * (eighths // 8) + FULL_BLOCKS[eighths % 8].strip(), width)
