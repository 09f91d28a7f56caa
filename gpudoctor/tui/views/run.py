"""The run view as one frame: which part gets how many lines, in one column or two, on any size of screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpudoctor.model.run import Run
from gpudoctor.tui.run_news import RunNews
from gpudoctor.tui.views import doctor, run_parts, step_plot
from gpudoctor.tui.views.chrome import footer_line, header_line, trouble_line
from gpudoctor.tui.views.lines import Line, Span, crop, width_of
from gpudoctor.tui.views.plots import rule, span_words
from gpudoctor.tui.watch import Watch

TWO_ABREAST_FROM = 118
LEFT_SHARE = 0.5
TOP = 4  # header, state, verdict, figures
MOST_LEAST = 3  # findings that are shown on the smallest screen, with the best fix below them
CHART = 16  # lines of the plot beside which there is output to show
RULE = 8  # cells that a heading needs beside its words
PACE_FROM, PACE = 14, 4  # a plot of so many lines gives some to steps per second
KEYS = (
    ("?", "help", "app.help"),
    ("q", "quit", "app.quit"),
    ("Enter", "details", "screen.details"),
    ("c", "copy fix", "screen.copy"),
    ("j k", "finding", "screen.move(1)"),
    ("o", "output", "screen.output"),
    ("s", "span", "screen.span(1)"),
    ("x", "explain", "screen.explain"),
    ("K", "stop", "screen.stop"),
    ("n", "next run", "screen.next_run"),
    ("p", "pause", "app.pause"),
    ("T", "theme", "app.next_theme"),
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part with its heading. `least` and `wanted` are lines with the heading."""

    title: str
    right: str
    least: int
    wanted: int
    draw: Callable[[int, int], Sequence[Line]]


def plot_columns(width: int) -> int:
    """Return how many columns the plot has on a screen of this width."""
    left = int(width * LEFT_SHARE) if width >= TWO_ABREAST_FROM else width
    return max(1, left - step_plot.AXIS - 2)


def run_frame(watch: Watch, width: int, height: int) -> list[Line]:
    """Return the whole screen."""
    told = watch.run
    head = header_line("run", watch.reading, width, source=watch.banner, training=told.training)
    if told.news is None or told.run is None:
        lines = [
            head,
            trouble_line(told.trouble, width),
            *run_parts.nothing_yet(told, width),
            *_output_below(watch, width, height),
        ]
    else:
        second = trouble_line(told.trouble, width) if told.trouble else run_parts.state_line(told, width)
        top = [
            head,
            second,
            run_parts.verdict_line(told.run, width, told.output),
            run_parts.figures_line(told.news, told.run, width),
        ]
        lines = [*top, *_body(watch, told.news, told.run, width, height - TOP - 1)]
    lines = [crop(line, width) for line in lines[: height - 1]]
    lines += [()] * (height - 1 - len(lines))
    return [*lines, footer_line(KEYS, width)]


def _output_below(watch: Watch, width: int, height: int) -> list[Line]:
    if not watch.run.started:
        return []
    return [(), rule("output", "", width), *run_parts.output_lines(watch.run.output, width, height - 6)]


def _body(watch: Watch, news: RunNews, run: Run, width: int, height: int) -> list[Line]:
    if width < TWO_ABREAST_FROM:
        return _stacked([*_findings(watch), *_plot(news, run, watch), *_about(run), *_output(watch)], width - 1, height)
    left_width = int(width * LEFT_SHARE)
    right_width = width - left_width - 2
    left = _stacked([*_plot(news, run, watch), *_memory(run), *_output(watch)], left_width, height)
    right = _stacked(
        [*_findings(watch), *_pipeline(run), *_hot(run), *_chosen(watch, right_width)], right_width, height
    )
    return [_beside(one, two, left_width) for one, two in zip(left, right, strict=True)]


def _findings(watch: Watch) -> list[_Part]:
    report = watch.run.report
    count = 0 if report is None else max(1, len(report.findings)) + len(report.fixes)
    title = "findings" if report is None or not report.findings else f"findings {len(report.findings)}"
    least = 3 if report is None else 1 + min(MOST_LEAST, max(1, len(report.findings))) + min(1, len(report.fixes))
    return [_Part(title, "", least, 1 + count, lambda width, height: run_parts.finding_lines(watch.run, width, height))]


def _chosen(watch: Watch, width: int) -> list[_Part]:
    """Return the details of the finding under the cursor, where there is room left."""
    finding, report = watch.run.chosen, watch.run.report
    if finding is None or report is None:
        return []
    lines = doctor.details(finding, report, {}, width)
    return [_Part("evidence", "Enter shows all", 5, 1 + len(lines), lambda _width, _height: lines)]


def _plot(news: RunNews, run: Run, watch: Watch) -> list[_Part]:
    def draw(width: int, height: int) -> list[Line]:
        pace = PACE if height >= PACE_FROM else 0
        lines = step_plot.plot_lines(news.columns, width, max(1, height - 1 - pace))
        lines.append(step_plot.legend_line(run.steps, news.columns, width))
        return [*lines, *(step_plot.pace_lines(news.columns, width, pace) if pace else ())]

    right = f"{span_words(news.span_s or watch.run.span_s)}  s changes"
    return [_Part("time of a step, stacked", right, 6, CHART if watch.run.started else 60, draw)]


def _about(run: Run) -> list[_Part]:
    return [*_pipeline(run), *_hot(run), *_memory(run)]


def _pipeline(run: Run) -> list[_Part]:
    stages = 1 if run.pipeline is None else max(1, len(run.pipeline.stages))
    return [
        _Part(
            "pipeline, output first",
            run_parts.pipeline_title(run),
            3,
            1 + stages,
            lambda width, height: run_parts.pipeline_lines(run, width, height),
        )
    ]


def _hot(run: Run) -> list[_Part]:
    count = 1 if run.hot_lines is None else max(1, len(run.hot_lines.lines))
    return [
        _Part(
            "hot lines",
            "of the sampled time",
            3,
            1 + count,
            lambda width, height: run_parts.hot_lines(run, width, height),
        )
    ]


def _memory(run: Run) -> list[_Part]:
    count = 1 if run.memory is None else max(1, len(run.memory.slopes))
    return [_Part("memory", "", 2, 1 + count, lambda width, height: run_parts.memory_lines(run, width, height))]


def _output(watch: Watch) -> list[_Part]:
    if not watch.run.started:
        return []
    return [
        _Part(
            "output",
            "o shows all",
            4,
            60,
            lambda width, height: run_parts.output_lines(watch.run.output, width, height),
        )
    ]


def shared_out(parts: Sequence[tuple[int, int]], height: int) -> list[int]:
    """Return lines for each part of (least, wanted): first come the leasts, in order; then all grow in turn, then the largest."""
    given = [0] * len(parts)
    for at, (least, _) in enumerate(parts):
        if least <= height - sum(given):
            given[at] = least
    while sum(given) < height:
        hungry = [at for at, (_, wanted) in enumerate(parts) if 0 < given[at] < wanted]
        if not hungry:
            break
        for at in hungry:
            if sum(given) < height:
                given[at] += 1
    return given


def _stacked(parts: Sequence[_Part], width: int, height: int) -> list[Line]:
    lines: list[Line] = []
    for part, count in zip(parts, shared_out([(each.least, each.wanted) for each in parts], height), strict=True):
        if count:
            body = list(part.draw(width, count - 1))[: count - 1]
            room = width - len(part.title) - RULE
            right = part.right if len(part.right) <= room else part.right.partition(",")[0]
            lines += [rule(part.title, right, width), *body, *([()] * (count - 1 - len(body)))]
    return [crop(line, width) for line in lines[:height]] + [()] * max(0, height - len(lines))


def _beside(left: Line, right: Line, left_width: int) -> Line:
    return (*left, Span(" " * (left_width - width_of(left) + 1)), *right)
