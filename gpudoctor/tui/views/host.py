"""The host in two or three lines: a starving GPU is often a busy core, a full disk link or a host without memory."""

from __future__ import annotations

from gpudoctor.model.missing import Missing
from gpudoctor.tui.messages import HostLoad
from gpudoctor.tui.views import words
from gpudoctor.tui.views.lines import HEIGHT_BLOCKS, Line, Span, bar, crop, joined, width_of

BUSY_PERCENT = 90.0  # display only: from here a core's column is lit
BAR = 12


def host_lines(host: HostLoad, width: int) -> list[Line]:
    """Return CPU with a column for each core, then memory, disk and network."""
    memory = words.share(host.memory_used_bytes, host.memory_total_bytes)
    parts: list[Line] = [
        _labelled(
            "RAM", f"{words.gib(host.memory_used_bytes)}/{words.gib(host.memory_total_bytes)} GiB", memory, width
        ),
        (
            Span("disk ", "dim"),
            *_flow(host.disk_read_bytes_per_s, "read"),
            Span(" "),
            *_flow(host.disk_write_bytes_per_s, "write"),
        ),
        (
            Span("net ", "dim"),
            *_flow(host.net_received_bytes_per_s, "in"),
            Span(" "),
            *_flow(host.net_sent_bytes_per_s, "out"),
        ),
    ]
    parts.append(_labelled("swap", words.size(host.swap_used_bytes), None, width))
    return [_cpu(host, width), (Span(" "), *joined(_that_fit(parts, width - 1)))]


def _that_fit(parts: list[Line], width: int) -> list[Line]:
    """Return the parts that fit whole: half a figure would read as another figure."""
    kept: list[Line] = []
    for part in parts:
        if width_of((*joined([*kept, part]),)) <= width:
            kept.append(part)
    return kept


def _cpu(host: HostLoad, width: int) -> Line:
    percent = host.cpu_percent
    shown: Line = (
        Span(" CPU  ", "dim"),
        Span(f"{words.amount(percent, '%'):>4} ", "strong"),
        *(() if isinstance(percent, Missing) else bar(percent / 100, BAR)),
    )
    cores = host.core_percents
    head: Line = (*shown, Span(f"  {len(cores)} cores " if cores else "", "dim"))
    room = width - sum(len(span.text) for span in head) - 14
    tail: Line = (Span(f"  load {words.amount(host.load_1_min, digits=1)}", "dim"),)
    return crop((*head, *_cores(cores, room), *tail), width)


def _cores(cores: tuple[float, ...], room: int) -> Line:
    """Return one column a core; where they do not fit, the busiest of each group: one busy core must not drown."""
    if room < 1 or not cores:
        return ()
    group = -(-len(cores) // room)
    peaks = [max(cores[at : at + group]) for at in range(0, len(cores), group)]
    spans: list[Span] = []
    for peak in peaks:
        style = "bar-warn" if peak >= BUSY_PERCENT else "bar"
        char = HEIGHT_BLOCKS[max(1, min(8, round(peak / 12.5)))]
        if spans and spans[-1].style == style:
            spans[-1] = Span(spans[-1].text + char, style)
        else:
            spans.append(Span(char, style))
    return tuple(spans)


def _labelled(label: str, text: str, share: float | None, width: int) -> Line:
    drawn = () if share is None or width < 100 else (*bar(share, BAR), Span(" "))
    return (Span(f"{label} ", "dim"), *drawn, Span(text))


def _flow(value: object, word: str) -> Line:
    number = words.rate(value) if isinstance(value, (int, float, Missing)) else words.UNKNOWN
    return (Span(f"{number:>7}"), Span(f" {word}", "dim"))
