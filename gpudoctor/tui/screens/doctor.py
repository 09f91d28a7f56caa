"""The doctor view: its keys."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.report import Verdict
from gpudoctor.tui.screens.dialogs import Page
from gpudoctor.tui.screens.view import ViewScreen
from gpudoctor.tui.views import doctor
from gpudoctor.tui.views.detail_pages import page_lines
from gpudoctor.tui.views.doctor_frame import DoctorPlace, doctor_frame
from gpudoctor.tui.views.lines import Line


class DoctorScreen(ViewScreen):
    """Findings, fixes and checks of the last scan."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "next entry"),
        Binding("up,k", "move(-1)", "previous entry"),
        Binding("pagedown", "scroll_details(5)", "scroll the details"),
        Binding("pageup", "scroll_details(-5)", "scroll back", show=False),
        Binding("home", "move(-1000)", "first", show=False),
        Binding("end", "move(1000)", "last of all", show=False),
        Binding("x,enter", "explain", "explain"),
        Binding("f", "fixes", "go to the fixes"),
        Binding("c", "copy", "copy the fix"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.place = DoctorPlace()

    def frame(self, width: int, height: int) -> list[Line]:
        """Return the lines of this view."""
        self.place.pages = self.monitor.scans.pages
        return doctor_frame(self.watch_state, self.place, self.monitor.scans.line(width), width, height)

    def wheel(self, step: int) -> None:
        """Move in the list."""
        self.action_move(step)

    @property
    def _subject(self) -> Finding | Fix | Verdict | None:
        report = self.watch_state.judged
        return None if report is None else self.place.subject(report)

    def action_move(self, step: int) -> None:
        """Choose another entry."""
        if self.watch_state.judged is not None:
            self.place.move(self.watch_state.judged, step)
            self.draw()

    def action_choose(self, at: int) -> None:
        """Choose the entry that was clicked."""
        self.place.cursor, self.place.scroll = at, 0
        self.draw()

    def action_scroll_details(self, step: int) -> None:
        """Scroll the details."""
        self.place.scroll = max(0, self.place.scroll + step)
        self.draw()

    def action_fixes(self) -> None:
        """Go to the best fix."""
        if self.watch_state.judged is not None:
            self.place.to_fixes(self.watch_state.judged)
            self.draw()

    def action_copy(self) -> None:
        """Copy the fix to the terminal's clipboard."""
        report = self.watch_state.judged
        text = "" if report is None else doctor.text_to_copy(self._subject, report)
        if text:
            self.monitor.copy_to_clipboard(text)
            self.notify(f"copied: {text.splitlines()[0]}", timeout=3)

    def action_explain(self) -> None:
        """Show the page of the check behind the chosen entry."""
        subject = self._subject
        code = subject.addresses[0] if isinstance(subject, Fix) and subject.addresses else getattr(subject, "code", "")
        page = self.monitor.scans.pages.get(code, "")
        if page:
            self.monitor.push_screen(Page(code, lambda width: page_lines(page, width)))
