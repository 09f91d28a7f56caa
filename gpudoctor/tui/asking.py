"""What is asked before something happens: load on a GPU, the end of a run that was started from here.

Taking the app itself would be shorter; the two files would then import each other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, overload

from gpudoctor.model.words import Level
from gpudoctor.tui.scans import LOAD_WARNING, TRIALS
from gpudoctor.tui.screens.dialogs import Choose, Confirm

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpudoctor.tui.options import Options
    from gpudoctor.tui.runs import Runs
    from gpudoctor.tui.scans import Scans
    from gpudoctor.tui.watch import Watch

LEAVE, STOP, STAY = "leave it running", "stop it", "stay here"


class Asking(Protocol):
    """What of the app is needed to ask, and to do what was agreed to."""

    options: Options
    watch_state: Watch
    scans: Scans
    runs: Runs

    @overload
    def push_screen(self, screen: Choose, callback: Callable[[str | None], None], /) -> object: ...
    @overload
    def push_screen(self, screen: Confirm, callback: Callable[[bool | None], None], /) -> object: ...

    def notify(self, message: str, *, severity: Literal["information", "warning", "error"]) -> None:
        """Say something for a while."""
        ...

    def action_view(self, name: str) -> None:
        """Show another view."""
        ...

    def exit(self, result: int, /) -> None:
        """End with this exit code."""
        ...


def scan(app: Asking, level: Level) -> None:
    """Scan; what puts load on a GPU is asked first."""
    if level == "quick":
        _start(app, "quick scan", "--level", level)
    else:
        _ask_load(app, "scan", "--level", level)


def choose_trial(app: Asking) -> None:
    """Let one trial be chosen, and ask whether to run it."""

    def chosen(name: str | None) -> None:
        if name is not None:
            _ask_load(app, f"trial {name}", "--level", "standard", "--trial", name)

    app.push_screen(Choose("Which trial?", TRIALS), chosen)


def _ask_load(app: Asking, title: str, *arguments: str) -> None:
    start = partial(_start, app, title, *arguments)
    app.push_screen(Confirm(f"Run the {title}?", LOAD_WARNING), lambda sure: start() if sure else None)


def _start(app: Asking, title: str, *arguments: str) -> None:
    if app.watch_state.source:
        app.notify("This is a replay; a scan examines the machine you sit at.", severity="warning")
    elif app.scans.busy:
        app.notify("A scan is running; Esc cancels it.", severity="warning")
    else:
        options = app.options
        python = ("--python", options.python) if options.python else ()
        app.scans.start(title, "--root", options.root, *python, *options.judging, *arguments)
        app.action_view("doctor")


def leave(app: Asking) -> None:
    """Quit; what becomes of a run that was started from here is asked first."""
    if not app.runs.going:
        app.exit(app.runs.exit_code or 0)
        return

    def chosen(what: str | None) -> None:
        if what == STOP:
            app.runs.stop()
        if what in {LEAVE, STOP}:
            app.exit(0)

    app.push_screen(Choose("The run that you started is still going. What of it?", (LEAVE, STOP, STAY)), chosen)
