"""The machine view: its keys."""

from __future__ import annotations

import os
import signal as signals
from typing import ClassVar

from textual.binding import Binding, BindingType

from gpudoctor.tui.screens.dialogs import Ask, Choose, Confirm, Page
from gpudoctor.tui.screens.view import ViewScreen
from gpudoctor.tui.views import detail_pages
from gpudoctor.tui.views.lines import Line
from gpudoctor.tui.views.machine import machine_frame
from gpudoctor.tui.views.processes import signalled

SIGNALS = ("SIGTERM", "SIGINT", "SIGKILL")


class MachineScreen(ViewScreen):
    """GPUs, their history, the host and the processes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move_gpu(-1)", "previous GPU"),
        Binding("right,l", "move_gpu(1)", "next GPU"),
        Binding("down,j", "move_row(1)", "next process"),
        Binding("up,k", "move_row(-1)", "previous process"),
        Binding("pagedown", "move_row(10)", "ten processes on", show=False),
        Binding("pageup", "move_row(-10)", "ten processes back", show=False),
        Binding("s", "span(1)", "longer history"),
        Binding("S", "span(-1)", "shorter history"),
        Binding("o", "order(1)", "next order of processes"),
        Binding("O", "order(-1)", "previous order of processes"),
        Binding("t", "tree", "process tree"),
        Binding("slash", "filter", "filter processes"),
        Binding("space", "tag", "tag the process"),
        Binding("K", "signal", "signal the tagged processes"),
        Binding("enter", "details", "about the process"),
        Binding("g", "gpu_details", "about the GPU"),
    ]

    def frame(self, width: int, height: int) -> list[Line]:
        """Return the lines of this view."""
        return machine_frame(self.watch_state, width, height)

    def wheel(self, step: int) -> None:
        """Move among the processes."""
        self.action_move_row(step)

    def action_move_gpu(self, step: int) -> None:
        """Choose another GPU."""
        self.watch_state.move_gpu(step)
        self.draw()

    def action_choose_gpu(self, index: int) -> None:
        """Choose the GPU that was clicked."""
        self.watch_state.gpu = index
        self.draw()

    def action_move_row(self, step: int) -> None:
        """Choose another process."""
        self.watch_state.move_row(step)
        self.draw()

    def action_choose_process(self, row: int) -> None:
        """Choose the process that was clicked."""
        self.watch_state.row = row
        self.draw()

    def action_span(self, step: int) -> None:
        """Look further back, or less far."""
        self.watch_state.next_span(step)
        self.draw()

    def action_order(self, step: int) -> None:
        """Change the order of the processes."""
        self.watch_state.next_sort(step)
        self.draw()

    def action_tree(self) -> None:
        """Show the children of each process, or hide them."""
        self.watch_state.tree = not self.watch_state.tree
        self.monitor.source.tell(f"tree {int(self.watch_state.tree)}")
        self.draw()

    def action_tag(self) -> None:
        """Tag the chosen process."""
        self.watch_state.tag()
        self.draw()

    def action_filter(self) -> None:
        """Ask for a pattern."""
        self.monitor.push_screen(Ask("Show processes with", self.watch_state.pattern), self._filtered)

    def _filtered(self, pattern: str | None) -> None:
        if pattern is not None:
            self.watch_state.pattern, self.watch_state.row = pattern, 0
        self.draw()

    def action_details(self) -> None:
        """Show all of the chosen process."""
        process = self.watch_state.chosen_process
        if process is not None:
            self.monitor.push_screen(
                Page(f"process {process.pid}", lambda width: detail_pages.of_process(process, width))
            )

    def action_gpu_details(self) -> None:
        """Show all of the chosen GPU."""
        gpu, reading = self.watch_state.chosen_gpu, self.watch_state.reading
        if gpu is not None and reading is not None:
            self.monitor.push_screen(Page(f"GPU {gpu.index}", lambda width: detail_pages.of_gpu(gpu, reading, width)))

    def action_signal(self) -> None:
        """Ask which signal, and whether really."""
        watch = self.watch_state
        chosen = watch.chosen_process
        pids = tuple(sorted(watch.tagged)) or (() if chosen is None else (chosen.pid,))
        if self.monitor.readonly or watch.source:
            self.notify(
                "signals are off (--readonly)" if self.monitor.readonly else "this is a replay", severity="warning"
            )
        elif pids:
            self.monitor.push_screen(Choose("Send which signal?", SIGNALS), lambda name: self._confirm(name, pids))

    def _confirm(self, name: str | None, pids: tuple[int, ...]) -> None:
        if name is None:
            return
        listed = ", ".join(map(str, pids))
        known = self.watch_state.reading.processes if self.watch_state.reading is not None else ()
        held = [signalled(each) for each in known if each.pid in pids]
        self.monitor.push_screen(
            Confirm(f"Send {name} to {listed}?", "\n".join([*held, "What was not saved may be lost."])),
            lambda sure: self._send(name, pids) if sure else None,
        )

    def _send(self, name: str, pids: tuple[int, ...]) -> None:
        for pid in pids:
            try:
                os.kill(pid, signals.Signals[name])
            except OSError as error:  # noqa: PERF203  # a handful
                self.notify(f"{pid}: {error.strerror}", severity="error")
            else:
                self.notify(f"{name} sent to {pid}")
        self.watch_state.tagged = frozenset()
        self.draw()
