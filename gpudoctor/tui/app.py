"""The app: owns the source of readings, the scans and the one timer, and hands what comes to the view that is seen."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from gpudoctor.model.words import Level
from gpudoctor.tui import asking, sources, themes
from gpudoctor.tui.listener import Listener
from gpudoctor.tui.messages import Progress, Reading
from gpudoctor.tui.options import Options
from gpudoctor.tui.run_news import Recorded, RunNews
from gpudoctor.tui.runs import Runs
from gpudoctor.tui.scans import Scans
from gpudoctor.tui.screens.dialogs import Page
from gpudoctor.tui.screens.doctor import DoctorScreen
from gpudoctor.tui.screens.machine import MachineScreen
from gpudoctor.tui.screens.run import RunScreen
from gpudoctor.tui.screens.view import ViewScreen
from gpudoctor.tui.session_source import recording_of
from gpudoctor.tui.views.help import help_lines
from gpudoctor.tui.watch import Watch

BEAT_S = 1.0
# What would end the process at once would leave the terminal in the dashboard's hands: no echo, no cursor.
ENDING = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)


class MonitorApp(App[int]):
    """The dashboard."""

    CSS_PATH = "gpudoctor.tcss"
    TITLE = "gpudoctor"
    MODES = {"machine": MachineScreen, "doctor": DoctorScreen, "run": RunScreen}  # noqa: RUF012  # pyright: ignore[reportUnknownVariableType]  # as Textual declares it
    DEFAULT_MODE = "machine"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "view('machine')", "machine view"),
        Binding("2", "view('doctor')", "doctor view"),
        Binding("3", "view('run')", "run view"),
        Binding("q", "quit", "quit"),
        Binding("question_mark", "help", "help"),
        Binding("p", "pause", "pause or go on"),
        Binding("T", "next_theme", "next theme"),
        Binding("r", "scan('quick')", "quick scan"),
        Binding("R", "scan('standard')", "scan with the reference network"),
        Binding("b", "choose_trial", "one trial"),
        Binding("escape", "cancel_scan", "cancel the scan"),
        Binding("less_than_sign", "speed(-1)", "replay slower"),
        Binding("greater_than_sign", "speed(1)", "replay faster"),
        Binding("left_square_bracket", "seek(-10)", "replay 10 s back"),
        Binding("right_square_bracket", "seek(10)", "replay 10 s on"),
        Binding("left_curly_bracket", "seek(-60)", "replay a minute back"),
        Binding("right_curly_bracket", "seek(60)", "replay a minute on"),
    ]

    def __init__(self, options: Options, source: sources.Source) -> None:
        super().__init__()
        self.options, self.source, self.readonly = options, source, options.readonly
        self.watch_state = Watch(source=options.replayed)
        self._listener, self._followed = Listener(), 0
        self.scans = Scans(self._listener, self._take_news)
        self.runs = Runs(self._listener, self.watch_state.run, self._take_run)
        themes.register(self, options.theme)

    def on_mount(self) -> None:
        """Begin to listen, and to look after what may fall silent."""
        if self.options.snapshot is not None:
            self.scans.start("judgement of the snapshot", "--snapshot", self.options.snapshot, *self.options.judging)
        self.runs.open(self.options)
        self.switch_mode(self.options.view)
        for number in ENDING:
            asyncio.get_running_loop().add_signal_handler(number, self.exit, 128 + number)
        self._listener.listen(self.source.fd, self._take_reading)
        self.set_interval(BEAT_S, self._beat)

    def on_unmount(self) -> None:
        """End the children."""
        for number in ENDING:
            asyncio.get_running_loop().remove_signal_handler(number)
        self._listener.forget(self.source.fd)
        for each in (self.source, self.scans, self.runs):
            each.close()

    def _take_reading(self) -> None:
        before = self.source.fd
        reading = self.source.take()
        self._follow(before)
        if reading is not None or self.source.trouble != self.watch_state.trouble:
            self.show_readings([] if reading is None else [reading])

    def _follow(self, before: int | None) -> None:
        """Listen to the new pipe where the sampler was replaced; it may have got the number of the old one."""
        if self.source.restarts != self._followed:
            self._followed = self.source.restarts
            self._listener.forget(before)
            self._listener.listen(self.source.fd, self._take_reading)

    def _beat(self) -> None:
        before = self.source.fd
        self.source.check()
        self._follow(before)
        if isinstance(self.source, sources.Recording) and not self.watch_state.paused:
            self.show_readings(self.source.step(BEAT_S))
            self.runs.play(self.source.told_s)
        self.scans.check()
        if self.runs.beat() or self.scans.busy:
            self.draw()

    def show_readings(self, readings: Iterable[Reading]) -> None:
        """Take readings into the state and draw, unless the user holds the screen."""
        watch, source = self.watch_state, self.source
        if isinstance(source, sources.Recording):
            watch.source = source.words
        elif watch.paused:
            return
        watch.trouble = source.trouble
        for reading in readings:
            watch.take(reading)
        self.draw()

    def draw(self) -> None:
        """Draw the view that is seen, also below a dialog."""
        view = next((each for each in reversed(self.screen_stack) if isinstance(each, ViewScreen)), None)
        if view is not None:
            view.draw()

    def _take_news(self, news: Progress) -> None:
        if news.report is not None:
            self.watch_state.report = news.report
            if self.options.snapshot:
                self.watch_state.take(sources.of_snapshot(news.report.snapshot))
        self.draw()

    def _take_run(self, news: RunNews | Recorded) -> None:
        if isinstance(news, Recorded):
            if self.options.session is not None:  # a run that was found or started never replaces the live machine
                self._play(recording_of(news))
        elif news.machine is not None:
            self.watch_state.report = news.machine
            if not isinstance(self.source, sources.Recording):
                self._play(sources.demo(news.machine.snapshot))
        if isinstance(news, RunNews) and news.pages:
            self.scans.pages = news.pages
        self.draw()

    def _play(self, recording: sources.Recording) -> None:
        """Put a recording in the place of the source, which ends: left open, its pipe would wake the loop for ever."""
        self._listener.forget(self.source.fd)
        self.source.close()
        self.source, self._followed = recording, recording.restarts

    def action_view(self, name: str) -> None:
        """Show another view."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.switch_mode(name)

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Page("help", partial(help_lines, view=self.current_mode)))

    def action_pause(self) -> None:
        """Hold the screen, or go on."""
        self.watch_state.hold()
        self.draw()

    def action_next_theme(self) -> None:
        """Change the colours."""
        themes.following(self)

    def action_scan(self, level: Level) -> None:
        """Scan; what puts load on a GPU is asked first."""
        asking.scan(self, level)

    def action_choose_trial(self) -> None:
        """Let one trial be chosen."""
        asking.choose_trial(self)

    async def action_quit(self) -> None:
        """Quit; a run that was started from here is asked about."""
        asking.leave(self)

    def action_help_quit(self) -> None:
        """Answer Ctrl-C, which a run in the foreground would get: here nothing is ended by it."""
        self.notify("q quits")

    def action_cancel_scan(self) -> None:
        """Cancel the scan that runs."""
        self.scans.cancel()

    def action_speed(self, step: int) -> None:
        """Play a recording faster or slower."""
        if isinstance(self.source, sources.Recording):
            self.source.faster(step)
            self.show_readings([])

    def action_seek(self, seconds: int) -> None:
        """Go to another place of a recording."""
        if isinstance(self.source, sources.Recording):
            self.show_readings(self.source.seek(seconds))
            self.runs.play(self.source.told_s, jump=True)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Return every key of the view and of the app as a command of the palette."""
        known: set[str] = set()
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.show and binding.description and binding.description not in known:
                known.add(binding.description)
                run = partial(self.run_action, binding.action, active.node)
                yield SystemCommand(binding.description, f"key {self.get_key_display(binding)}", run)
