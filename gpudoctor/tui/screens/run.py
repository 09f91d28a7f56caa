"""The run view: its keys."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import ScreenSuspend

from gpudoctor.tui.screens.dialogs import Confirm, Page
from gpudoctor.tui.screens.view import ViewScreen
from gpudoctor.tui.views import doctor
from gpudoctor.tui.views.detail_pages import page_lines
from gpudoctor.tui.views.lines import Line, Span, fit
from gpudoctor.tui.views.run import plot_columns, run_frame


class RunScreen(ViewScreen):
    """One run of the user's script: steps over time, pipeline, hot lines, findings while it trains."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "next finding"),
        Binding("up,k", "move(-1)", "previous finding"),
        Binding("s", "span(1)", "longer time line"),
        Binding("S", "span(-1)", "shorter time line"),
        Binding("enter", "details", "about the finding"),
        Binding("x", "explain", "explain"),
        Binding("c", "copy", "copy the fix"),
        Binding("o", "output", "what the command printed"),
        Binding("n", "next_run", "next run"),
        Binding("K", "stop", "stop the run"),
    ]

    def frame(self, width: int, height: int) -> list[Line]:
        """Return the lines of this view."""
        self.monitor.runs.seen(seen=True)
        self.monitor.runs.look_at(plot_columns(width))
        return run_frame(self.watch_state, width, height)

    def on_screen_suspend(self, event: ScreenSuspend) -> None:
        """Let the reader rest while another view is seen."""
        del event
        self.monitor.runs.seen(seen=False)

    def wheel(self, step: int) -> None:
        """Move among the findings."""
        self.action_move(step)

    def action_move(self, step: int) -> None:
        """Choose another finding."""
        self.watch_state.run.move(step)
        self.draw()

    def action_choose(self, row: int) -> None:
        """Choose the finding that was clicked."""
        self.watch_state.run.row = row
        self.draw()

    def action_span(self, step: int) -> None:
        """Look further back, or less far."""
        self.watch_state.run.next_span(step)
        self.draw()

    def action_details(self) -> None:
        """Show all of the chosen finding."""
        finding, report = self.watch_state.run.chosen, self.watch_state.run.report
        if finding is not None and report is not None:
            self.monitor.push_screen(Page(finding.code, lambda width: doctor.details(finding, report, {}, width - 1)))

    def action_explain(self) -> None:
        """Show the page of the check behind the chosen finding."""
        finding = self.watch_state.run.chosen
        page = "" if finding is None else self.monitor.scans.pages.get(finding.code, "")
        if finding is not None and page:
            self.monitor.push_screen(Page(finding.code, lambda width: page_lines(page, width)))

    def action_copy(self) -> None:
        """Copy the fix of the chosen finding to the terminal's clipboard."""
        report = self.watch_state.run.report
        text = "" if report is None else doctor.text_to_copy(self.watch_state.run.chosen, report)
        if text:
            self.monitor.copy_to_clipboard(text)
            self.notify(f"copied: {text.splitlines()[0]}", timeout=3)

    def action_output(self) -> None:
        """Show all that the command printed."""
        if self.watch_state.run.started:
            self.monitor.push_screen(Page("output", self._output, at_end=True))
        else:
            self.notify("The output of a run that was started elsewhere is on its own terminal.")

    def _output(self, width: int) -> list[Line]:
        return [(Span(f" {fit(line, width - 2)}"),) for line in self.watch_state.run.output] or [()]

    def action_next_run(self) -> None:
        """Watch another of the runs that are being recorded."""
        self.monitor.runs.next()
        self.draw()

    def action_stop(self) -> None:
        """Stop the command that was started from here, after a yes."""
        if self.monitor.readonly or not self.monitor.runs.going:
            self.notify("Only a run that was started from here can be stopped here.", severity="warning")
        else:
            self.monitor.push_screen(
                Confirm("Stop the run?", "It is interrupted as by Ctrl-C; what it has not saved is lost."),
                lambda sure: self._stop() if sure else None,
            )

    def _stop(self) -> None:
        self.monitor.runs.stop()
        self.draw()
