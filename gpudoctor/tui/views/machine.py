"""The machine view as one frame: which part gets how many lines, on any size of screen, for 1 to 16 GPUs.

What may never be missing comes first: the GPUs, then the host and one process, then why; plots get what is left over.
"""

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.tui.messages import Reading
from gpudoctor.tui.views.chrome import footer_line, header_line, trouble_line
from gpudoctor.tui.views.gpus import gpu_lines, gpu_rows, no_gpu_lines
from gpudoctor.tui.views.host import host_lines
from gpudoctor.tui.views.lines import Line, crop
from gpudoctor.tui.views.plots import plot_lines, rule, span_words
from gpudoctor.tui.views.processes import nothing_held, process_lines
from gpudoctor.tui.views.why import why_height, why_lines
from gpudoctor.tui.watch import Watch

FIXED = 3  # header, trouble, footer
HOST = 3  # its rule and two lines
LEAST_PLOT, MOST_PLOT = 4, 25  # lines, with the rule
NOTHING = 3  # what is said where there is no GPU
LEAST_PROCESSES = 3  # rule, heading, one row

KEYS = (
    ("?", "help", "app.help"),
    ("q", "quit", "app.quit"),
    ("r", "quick scan", "app.scan('quick')"),
    ("g", "GPU", "screen.gpu_details"),
    ("Enter", "process", "screen.details"),
    ("/", "filter", "screen.filter"),
    ("K", "signal", "screen.signal"),
    ("s", "span", "screen.span(1)"),
    ("o", "order", "screen.order(1)"),
    ("t", "tree", "screen.tree"),
    ("p", "pause", "app.pause"),
    ("T", "theme", "app.next_theme"),
)


class Heights(NamedTuple):
    """Lines for each part; 0: left out."""

    gpus: int
    why: int
    plots: int
    host: int
    processes: int


def heights(height: int, gpus: int, processes: int, why: int = 1) -> Heights:
    """Return how the lines are shared out. `gpus` and `processes` are numbers of them, `why` the lines it would like."""
    left = height - FIXED
    for_gpus = max(1, min(left, gpus + 1 if gpus else NOTHING))
    left -= for_gpus
    for_why = min(why, max(1, left - 4), left) if left < LEAST_PLOT + HOST + LEAST_PROCESSES else why
    left -= for_why
    host = HOST if left >= HOST + LEAST_PROCESSES else 2 if left >= 2 + 2 else 0
    left -= host
    wanted = min(max(processes, 1) + 2, max(LEAST_PROCESSES, left // 2))
    plots = min(left - wanted, MOST_PLOT)
    if plots < LEAST_PLOT or not gpus:
        plots = 0
    return Heights(for_gpus, for_why, plots, host, left - plots)


def machine_frame(watch: Watch, width: int, height: int) -> list[Line]:
    """Return the whole screen."""
    reading = watch.reading or Reading(at_s=0.0)
    rows = watch.rows
    count, instances = gpu_rows(reading, (height - FIXED) // 2)
    top = (
        gpu_lines(reading, width, watch.gpu, stale=watch.stale, instances=instances)
        if reading.gpus
        else no_gpu_lines(reading, watch.trouble, width)
    )
    share = heights(height, count, len(rows), why_height(watch.why))
    trouble = f"{watch.trouble}; the GPUs are shown as last seen" if watch.trouble and reading.gpus else ""
    tight = not trouble and share.host == 0  # the line kept free for trouble is worth more as another one
    if tight:
        share = heights(height + 1, count, len(rows), why_height(watch.why))
    lines = [
        header_line("machine", watch.reading, width, source=watch.banner, training=watch.run.training),
        *([] if tight else [trouble_line(trouble, width)]),
        *top[: share.gpus],
        *why_lines(watch.why, width, share.why, reading)[: share.why],
        *_plots(watch, width, share.plots),
        *_host(reading, width, share.host),
        *_processes(watch, width, share.processes),
    ]
    lines = [crop(line, width) for line in lines[: height - 1]]
    lines += [()] * (height - 1 - len(lines))
    return [*lines, footer_line(KEYS, width)]


def _plots(watch: Watch, width: int, height: int) -> list[Line]:
    if height < LEAST_PLOT:
        return []
    span = f"{span_words(watch.span_s)}  s changes"
    return [
        rule("history", span, width),
        *plot_lines(watch.chosen_gpu, watch.history, watch.span_s, width, height - 1),
    ]


def _host(reading: Reading, width: int, height: int) -> list[Line]:
    if height == 0:
        return []
    lines = host_lines(reading.host, width)
    return [rule("host", "", width), *lines] if height == HOST else lines


def _processes(watch: Watch, width: int, height: int) -> list[Line]:
    if height < 2:
        return []
    rows = watch.rows
    words = (
        f"by {watch.sort}"
        + (f", filter {watch.pattern!r} (/ changes it)" if watch.pattern else "")
        + (", tree" if watch.tree else "")
    )
    nothing = nothing_held(watch.reading, watch.trouble, watch.pattern)
    count = "" if not rows and nothing.startswith("processes:") else f" {len(rows)}"
    head = [rule(f"processes{count}", words, width)] if height >= LEAST_PROCESSES else []
    table = process_lines(
        rows,
        width,
        height - len(head),
        cursor=min(watch.row, max(0, len(rows) - 1)),
        tagged=watch.tagged,
        nothing=nothing,
    )
    return [*head, *table]
