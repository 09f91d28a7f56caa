"""A terminal for a command whose output goes to a terminal: what it prints passes through, a line of ours may stand below.

One pseudo-terminal serves all three streams, as one terminal does: two would swap the order of stdout and stderr.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import termios
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

CHUNK = 1 << 16
DRAIN_S = 0.2  # after its end, for what is still on the way; a grandchild may hold the terminal open for ever


def wanted() -> bool:
    """Return whether stderr is a terminal, with us in the foreground: else every stream is simply inherited."""
    try:
        return os.isatty(2) and os.tcgetpgrp(2) == os.getpgrp() and os.environ.get("TERM", "dumb") != "dumb"
    except OSError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """What the command gets as its standard streams; None: ours."""

    stdin: int | None = None
    stdout: int | None = None
    stderr: int | None = None


class Terminal:
    """A pseudo-terminal between the command and the real one."""

    def __init__(self) -> None:
        """Open it, with the real one's settings and size. Raises OSError."""
        self._master, self._slave = pty.openpty()
        self._through = [number for number in range(3) if _same_terminal(number)]
        self._settings = termios.tcgetattr(2)
        termios.tcsetattr(self._slave, termios.TCSANOW, self._settings)
        self.resize()
        self._thread: threading.Thread | None = None
        self._stop_read, self._stop_write = os.pipe()
        self._sources = [self._master, self._stop_read, *([0] if 0 in self._through else [])]
        self.unaided = ""  # why no thread serves it: then who waits for the command calls `pass_on` meanwhile
        self._lock = threading.Lock()
        self._line, self._at_start = b"", True
        self.hear: Callable[[bytes], None] = _nobody  # what the command prints, beside its way to the screen

    def streams(self) -> Streams:
        """Return which of the command's streams are this terminal; the others are inherited."""
        stdin, stdout, stderr = (self._slave if number in self._through else None for number in range(3))
        return Streams(stdin=stdin, stdout=stdout, stderr=stderr)

    def become_controlling(self) -> None:
        """In the child: lead a session of its own with this terminal, so that Ctrl-C reaches it as a signal."""
        os.setsid()
        fcntl.ioctl(self._slave, termios.TIOCSCTTY, 0)

    def begin(self) -> None:
        """Let bytes pass both ways. The command runs already: what fails here must not leave it with a dead terminal."""
        os.close(self._slave)
        with suppress(termios.error):
            if 0 in self._through:
                tty.setraw(2, termios.TCSANOW)
            else:
                plain = termios.tcgetattr(2)
                plain[1] &= ~termios.OPOST
                termios.tcsetattr(2, termios.TCSANOW, plain)
        thread = threading.Thread(target=self._pass, name="terminal", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # a limit on processes (RLIMIT_NPROC, pids.max) counts threads, too
            self.unaided = str(error) or type(error).__name__
        else:
            self._thread = thread

    def resize(self) -> None:
        """Give it the real terminal's size."""
        with suppress(OSError):
            size = fcntl.ioctl(2, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def show(self, text: str) -> None:
        """Show a line of ours where the command's own line has ended; it is gone before the command's next byte."""
        with self._lock:
            if self._at_start:
                self._line = text.encode()
                _write(b"\r\x1b[2K\x1b[2m" + self._line + b"\x1b[0m\r")

    def close(self) -> None:
        """Pass what is left, and give the real terminal its settings back."""
        if self._thread is not None:
            os.write(self._stop_write, b"x")
            self._thread.join()
        elif self.unaided:
            self._sources = [self._master]
            self._pass()
        self._erase()
        for each in (self._master, self._stop_read, self._stop_write):
            with suppress(OSError):
                os.close(each)
        with suppress(termios.error):
            termios.tcsetattr(2, termios.TCSADRAIN, self._settings)

    def _pass(self) -> None:
        while self.pass_on(None if self._stop_read in self._sources else DRAIN_S):
            pass

    def pass_on(self, within_s: float | None) -> bool:
        """Pass on what comes first within this time; return whether anything came and more may come."""
        ready = select.select(self._sources, [], [], within_s)[0]
        if self._stop_read in ready:
            self._sources = [self._master]
        if 0 in ready and 0 in self._sources and not self._type():
            self._sources.remove(0)
        if self._master in ready and not self._print():
            self._sources.remove(self._master)
            return False
        return bool(ready)

    def _type(self) -> bool:
        with suppress(OSError):
            data = os.read(0, CHUNK)
            if data:
                os.write(self._master, data)
                return True
        return False

    def _print(self) -> bool:
        try:
            data = os.read(self._master, CHUNK)
        except OSError:  # EIO: nobody has it open any more
            return False
        if not data:
            return False
        with self._lock:
            self._erase()
            _write(data)
            self._at_start = data.endswith(b"\n")
        self.hear(data)
        return True

    def _erase(self) -> None:
        if self._line:
            _write(b"\r\x1b[2K")
            self._line = b""


def _nobody(_: bytes) -> None:
    """Hear nothing."""


def _same_terminal(number: int) -> bool:
    try:
        return os.isatty(number) and os.ttyname(number) == os.ttyname(2)
    except OSError:
        return False


def _write(data: bytes) -> None:
    view = memoryview(data)
    with suppress(OSError):  # the real terminal is gone: the command goes on
        while view:
            view = view[os.write(2, view) :]
