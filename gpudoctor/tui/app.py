"""The app: owns the source of readings, the scans and the one timer, and hands what comes to the view that is seen."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from gpudoctor.tui import sources, themes
from gpudoctor.tui.listener import Listener
from gpudoctor.tui.messages import Progress, Reading
from gpudoctor.tui.options import Options
from gpudoctor.tui.scans import LOAD_WARNING, TRIALS, Scans
from gpudoctor.tui.screens.dialogs import Choose, Confirm, Page
from gpudoctor.tui.screens.doctor import DoctorScreen
from gpudoctor.tui.screens.machine import MachineScreen
from gpudoctor.tui.screens.run import RunScreen
from gpudoctor.tui.screens.view import ViewScreen
from gpudoctor.tui.views.help import help_lines
from gpudoctor.tui.watch import Watch

BEAT_S = 1.0


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
    ]

    def __init__(self, options: Options, source: sources.Source) -> None:
        super().__init__()
        self.options, self.source, self.readonly = options, source, options.readonly
        self.watch_state = Watch(source="DEMO" if options.demo else "SNAPSHOT" if options.snapshot else "")
        self._listener, self._followed = Listener(), 0
        self.scans = Scans(self._listener, self._take_news)
        themes.register(self, options.theme)

    def on_mount(self) -> None:
        """Begin to listen, and to look after what may fall silent."""
        saved = str(sources.DEMO / "snapshot.json") if self.options.demo else self.options.snapshot
        if saved is not None:
            self.scans.start("judgement of the snapshot", "--snapshot", saved, *self.options.judging)
        self._listener.listen(self.source.fd, self._take_reading)
        self.set_interval(BEAT_S, self._beat)

    def on_unmount(self) -> None:
        """End the children."""
        self._listener.forget(self.source.fd)
        self.source.close()
        self.scans.close()

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
        if self.scans.busy:
            self.scans.check()
            self.draw()

    def show_readings(self, readings: Iterable[Reading]) -> None:
        """Take readings into the state and draw, unless the user holds the screen."""
        watch, source = self.watch_state, self.source
        if isinstance(source, sources.Recording):
            watch.source = f"DEMO {source.words}"
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
            if self.options.demo:
                self.source = sources.demo(news.report.snapshot)
            elif self.options.snapshot:
                self.watch_state.take(sources.of_snapshot(news.report.snapshot))
        self.draw()

    def action_view(self, name: str) -> None:
        """Show another view."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.switch_mode(name)

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Page("help", help_lines))

    def action_pause(self) -> None:
        """Hold the screen, or go on."""
        self.watch_state.paused = not self.watch_state.paused
        self.draw()

    def action_next_theme(self) -> None:
        """Change the colours."""
        themes.following(self)

    def action_scan(self, level: str) -> None:
        """Scan; what puts load on a GPU is asked first."""
        if level == "quick":
            self._start_scan("quick scan", "--level", level)
        else:
            self._ask_load("scan", "--level", level)

    def action_choose_trial(self) -> None:
        """Let one trial be chosen."""
        self.push_screen(Choose("Which trial?", TRIALS), self._trial_chosen)

    def _trial_chosen(self, name: str | None) -> None:
        if name is not None:
            self._ask_load(f"trial {name}", "--level", "standard", "--trial", name)

    def _ask_load(self, title: str, *arguments: str) -> None:
        start = partial(self._start_scan, title, *arguments)
        self.push_screen(Confirm(f"Run the {title}?", LOAD_WARNING), lambda sure: start() if sure else None)

    def _start_scan(self, title: str, *arguments: str) -> None:
        if self.watch_state.source:
            self.notify("This is a replay; a scan examines the machine you sit at.", severity="warning")
        elif self.scans.busy:
            self.notify("A scan is running; Esc cancels it.", severity="warning")
        else:
            python = ("--python", self.options.python) if self.options.python else ()
            self.scans.start(title, "--root", self.options.root, *python, *self.options.judging, *arguments)
            self.action_view("doctor")

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

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Return every key of the view and of the app as a command of the palette."""
        known: set[str] = set()
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.show and binding.description and binding.description not in known:
                known.add(binding.description)
                run = partial(self.run_action, binding.action, active.node)
                yield SystemCommand(binding.description, f"key {binding.key_display or binding.key}", run)
