"""What the three views share: one panel over the whole screen, filled by a pure function, drawn only while it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp, Resize, ScreenResume
from textual.screen import Screen

from gpudoctor.tui.views.lines import Line
from gpudoctor.tui.watch import Watch
from gpudoctor.tui.widgets.panel import Panel

if TYPE_CHECKING:
    from gpudoctor.tui.app import MonitorApp


class ViewScreen(Screen[None]):
    """A view. It is told to `draw`; it never asks for data."""

    AUTO_FOCUS = None

    def compose(self) -> ComposeResult:
        """Make the panel."""
        yield Panel()

    @property
    def watch_state(self) -> Watch:
        """Return what is being watched."""
        return self.monitor.watch_state

    @property
    def monitor(self) -> MonitorApp:
        """Return the app."""
        return cast("MonitorApp", self.app)  # pyright: ignore[reportUnknownMemberType]  # Textual does not say whose app

    def frame(self, width: int, height: int) -> list[Line]:
        """Return the lines of this view."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show the present state, if this view is the one that is seen (a dialog may stand above it)."""
        width, height = self.size
        panels = self.query(Panel)
        if width and height and panels:
            panels.first().show(self.frame(width, height))

    def wheel(self, step: int) -> None:
        """Follow the mouse wheel."""

    def on_resize(self, event: Resize) -> None:
        """Draw for the new size."""
        del event
        self.call_after_refresh(self.draw)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Draw what came while another view was seen."""
        del event
        self.draw()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Move up."""
        del event
        self.wheel(-1)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Move down."""
        del event
        self.wheel(1)
