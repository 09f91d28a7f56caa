"""The run beside the screen: found or started, read by a child, its news put into the state. Nothing is read before there is a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gpudoctor.tui.listener import Listener
from gpudoctor.tui.options import Options
from gpudoctor.tui.output_tail import OutputTail
from gpudoctor.tui.run_link import RunLink
from gpudoctor.tui.run_news import Recorded, RunNews
from gpudoctor.tui.run_watch import RunWatch
from gpudoctor.tui.started_run import StartedRun

LOOK_EVERY_BEATS = 2  # policy: a run that begins is seen within two seconds


class Runs:
    """Owns the reader of the session and the command that was started."""

    def __init__(self, listener: Listener, watch: RunWatch, on_news: Callable[[RunNews | Recorded], None]) -> None:
        self._listener, self._watch, self._on_news = listener, watch, on_news
        self._folder: Path | None = None
        self._link: RunLink | None = None
        self._started: StartedRun | None = None
        self._tail: OutputTail | None = None
        self._beats = 0
        self._seen, self._columns = False, 0

    def open(self, options: Options) -> None:
        """Begin with what was asked for: the demo's run, a session, a command, or whatever is being recorded."""
        if options.demo:
            self.read("--demo")
        elif options.session is not None:
            self.read("--session", options.session, path=options.session)
        elif options.script and options.sessions is not None:
            self._start(options.script, options.sessions)
        elif not options.snapshot:
            self._folder = options.sessions

    def _start(self, command: Sequence[str], folder: Path) -> None:
        try:
            self._started = StartedRun(command, folder)
        except OSError as error:
            self._watch.trouble = f"cannot start {command[0]}: {error.strerror or error}"
            return
        self._tail = OutputTail(self._started.log)
        self._watch.started = self._started.command

    def read(self, *arguments: str, path: str = "") -> None:
        """Read a session (`--session FILE`) or the demo's (`--demo`), and no other one."""
        if self._link is not None:
            self._listener.forget(self._link.fd)
            self._link.close()
        self._watch.news, self._watch.row = None, 0
        self._link = RunLink(*arguments, path=path)
        self._listener.listen(self._link.fd, self._take)
        self._tell()

    def _follow(self, path: str) -> None:
        """Read a run that goes on beside the live machine; it may be over before its reader is there."""
        self.read("--session", path, "--watched", path=path)

    @property
    def started(self) -> StartedRun | None:
        """Return the command that was started from here."""
        return self._started

    @property
    def going(self) -> bool:
        """Return whether a command that was started from here still runs."""
        return self._started is not None and self._started.exit_code is None

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of a command that was started from here and has ended."""
        return None if self._started is None else self._started.exit_code

    def stop(self) -> None:
        """Ask the started command to end."""
        if self._started is not None and self.going:
            self._started.stop()
            self._watch.stopping = True

    def _take(self) -> None:
        link = self._link
        if link is None:
            return
        fd = link.fd
        for news in link.take():
            if isinstance(news, RunNews):
                self._watch.trouble = news.failure
                if news.report is not None and not self._watch.held:
                    self._watch.news = news
            self._on_news(news)
        if link.fd is None:
            self._listener.forget(fd)
            self._watch.trouble = self._watch.trouble or link.trouble

    def beat(self) -> bool:
        """Look after everything, once a second; return whether something is to be drawn."""
        self._beats += 1
        changed = self._look_after_started()
        if self._link is not None and self._link.check():
            self._listener.listen(self._link.fd, self._take)
        if self._beats % LOOK_EVERY_BEATS == 0:
            self._look()
        return changed

    def _look_after_started(self) -> bool:
        started, tail = self._started, self._tail
        if started is None or tail is None:
            return False
        printed, before = tail.read(), self._watch.exit_code
        if printed:
            self._watch.output = tail.lines
        self._watch.exit_code = started.exit_code
        if self._link is None and started.session.exists():
            self._follow(str(started.session))
        return printed or before != self._watch.exit_code

    def _look(self) -> None:
        """Attach to the newest run, where none is watched or the one that is has ended."""
        if self._folder is None or self.going:
            return
        found = self._live()
        self._watch.live = len(found)
        run = self._watch.run
        over = self._link is None or self._link.fd is None or (run is not None and run.outcome != "running")
        if found and over and str(found[0]) != (self._link.path if self._link else ""):
            self._follow(str(found[0]))

    def _live(self) -> list[Path]:
        from gpudoctor.profile.running import live_sessions  # noqa: PLC0415  # not before the first frame

        return [] if self._folder is None else live_sessions(self._folder)

    def next(self) -> None:
        """Watch the next of the runs that are being recorded."""
        found = [str(each) for each in self._live()]
        if found and self._link is not None:
            at = found.index(self._link.path) + 1 if self._link.path in found else 0
            path = found[at % len(found)]
            if path != self._link.path:
                self._follow(path)

    def look_at(self, columns: int) -> None:
        """Ask for as many columns as the screen has; called with each frame, tells the reader when it changed."""
        self._columns = columns
        self._tell()

    def seen(self, *, seen: bool) -> None:
        """Tell whether the run view is looked at."""
        self._seen = seen
        self._tell()

    def _tell(self) -> None:
        if self._link is not None:
            self._link.tell("seen", int(self._seen))
            if self._columns:
                self._link.tell("window", self._watch.span_s, self._columns)

    def play(self, seconds: float, *, jump: bool = False) -> None:
        """Show a finished run as it was so many seconds after its start."""
        if self._link is not None:
            self._link.tell("jump" if jump else "at", f"{seconds:.1f}")

    def close(self) -> None:
        """Let go of the reader; the command goes on."""
        if self._link is not None:
            self._link.close()
