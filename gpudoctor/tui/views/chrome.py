"""The top and bottom lines: where one is, what machine this is, what is wrong with the watching itself, which keys work."""

from __future__ import annotations

from collections.abc import Sequence
from time import localtime, strftime

from gpudoctor.tui.messages import Reading
from gpudoctor.tui.views import words
from gpudoctor.tui.views.lines import Line, Span, crop, ends, fit, width_of

MORE = 2  # cells of the sign for more keys
VIEWS = (("1", "Machine", "machine"), ("2", "Doctor", "doctor"), ("3", "Run", "run"))


def header_line(view: str, reading: Reading | None, width: int, *, source: str = "", training: bool = False) -> Line:
    """Return the views with the present one marked, and what is watched.

    `source`: '' for live, else what is replayed. `training`: a run is being recorded; its view has a mark then.
    """
    left: list[Span] = [Span(" gpudoctor ", "strong")]
    for key, title, name in VIEWS:
        marked = name == view
        sign = "●" if training and name == "run" else ""
        left.append(Span(f" {key} {title}{sign} ", "chosen" if marked else "key", f"app.view('{name}')"))
    clock = "" if reading is None else strftime("%H:%M:%S", localtime(reading.at_s))
    room = width - width_of(tuple(left)) - 1
    said = f"{source}  " if source else ""
    told = fit("" if reading is None else words.machine(reading), max(0, room - len(said) - len(clock) - 3)).strip()
    right: Line = (Span(said, "warn"), Span(told, "dim"), Span(f"  {clock} "))
    if width_of(right) > room:
        right = (Span(fit(said, room).rstrip(), "warn"),)
    return ends(tuple(left), right, width)


def trouble_line(trouble: str, width: int) -> Line:
    """Return what keeps the screen from seeing, '' when nothing does."""
    return (Span(fit(f" ! {trouble}", width), "bad"),) if trouble else (Span(""),)


def footer_line(keys: Sequence[tuple[str, str, str]], width: int) -> Line:
    """Return key and word for as many keys as fit, those of most worth first; a sign says that there are more."""
    spans: list[Span] = []
    used = 0
    for place, (key, word, action) in enumerate(keys, start=1):
        need = len(key) + len(word) + 3
        if used + need + (MORE if place < len(keys) else 0) > width:
            spans.append(Span(" …", "dim", "app.help"))
            break
        spans += (Span(f" {key}", "key", action), Span(f" {word} ", "dim", action))
        used += need
    return crop(tuple(spans), width)
