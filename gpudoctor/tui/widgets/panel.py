"""The one widget that draws: it is handed lines, compares them with the last ones, and repaints only the cells that differ.

Textual's own DataTable, Footer and Header would do for a form; as a dashboard that changes each second they lay out and paint
far more than changes, and this tool may not be the load that it warns of.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from gpudoctor.tui.views.lines import STYLES, Line, Span, cells, width_of

NOTHING: Line = ()


class Panel(Widget):
    """Lines, drawn one below the other; what does not fit is cut."""

    COMPONENT_CLASSES = {f"panel--{name}" for name in STYLES}  # noqa: RUF012  # as Textual declares it

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._strips: dict[int, Strip] = {}
        self._styles_by_name: dict[tuple[str, str], Style] = {}

    def on_unmount(self) -> None:
        """Let go of what was painted.

        Textual keeps the painted lines of widgets that are gone in a cache of a thousand (0.4 MiB for each page of help,
        measured); a widget that is told to paint anew lets go of the old ones.
        """
        self.refresh()

    def show(self, lines: Sequence[Line]) -> None:
        """Put the lines in place of the last ones."""
        old, self._lines = self._lines, list(lines)
        regions = [
            Region(begin, y, end - begin, 1)
            for y, (before, now) in enumerate(zip_longest(old, self._lines, fillvalue=NOTHING))
            if before != now
            for begin, end in (changed_cells(before, now),)
        ]
        for region in regions:
            self._strips.pop(region.y, None)
        if regions:
            self.refresh(*regions)

    @property
    def lines(self) -> Sequence[Line]:
        """Return what is shown."""
        return self._lines

    def notify_style_update(self) -> None:
        """Forget painted lines: the theme changed."""
        self._strips.clear()
        self._styles_by_name.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Return one line as Textual paints it."""
        strip = self._strips.get(y)
        if strip is None:
            line = self._lines[y] if y < len(self._lines) else NOTHING
            strip = self._strips[y] = Strip([Segment(span.text, self._style(span)) for span in line], width_of(line))
        return strip.adjust_cell_length(self.size.width, self._style(Span("")))

    def _style(self, span: Span) -> Style:
        style = self._styles_by_name.get((span.style, span.action))
        if style is None:
            style = self.get_component_rich_style(f"panel--{span.style}") if span.style else self.rich_style
            if span.action:
                style += Style.from_meta({"@click": span.action})
            self._styles_by_name[span.style, span.action] = style
        return style


def changed_cells(before: Line, now: Line) -> tuple[int, int]:
    """Return the first and one past the last cell that differs."""
    same = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        same += 1
    begin = width_of(now[:same])
    longest = max(width_of(before), width_of(now))
    if width_of(before) != width_of(now):
        return begin, longest
    back = 0
    for old, new in zip(reversed(before[same:]), reversed(now[same:]), strict=False):
        if old != new:
            break
        back += cells(new.text)
    return begin, longest - back
