"""Runs a command on a terminal of its own and keeps what it prints in a file: a training started from the dashboard.

A pipe to the dashboard would be simpler; the dashboard may be quit while the training goes on, and a program whose terminal
is gone ends at its next print. So this small process stays with it, whatever becomes of the screen. Its exit code is the command's.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

CHUNK = 1 << 16
ROWS, COLUMNS = 40, 120
MOST_BYTES = 64 << 20  # policy: a log of a screen, not of a week
SIGNALLED = 128  # a shell's convention for the exit code of a command that a signal ended
# Policy. Ctrl-C is what training scripts handle; what does not end by it is asked again, then killed.
PATIENCE_S = 10.0
POLL_S = 0.5
STEPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class KeptCommand:
    """The command and its file."""

    def __init__(self, log: str, command: Sequence[str]) -> None:
        self._left, self._log = 0, -1
        with suppress(OSError):  # no place for it: the command runs all the same
            self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._left = MOST_BYTES
        self._stopping = -1
        self._due = 0.0
        import fcntl  # noqa: PLC0415  # it exists on POSIX alone; the module is imported elsewhere too
        import pty  # noqa: PLC0415
        import termios  # noqa: PLC0415

        self._pid, self._master = pty.fork()
        if self._pid == 0:
            _become(command)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def stop(self, *_: object) -> None:
        """Begin to end the command."""
        if self._stopping < 0:
            self._next()

    def _next(self) -> None:
        self._stopping = min(self._stopping + 1, len(STEPS) - 1)
        self._due = monotonic() + PATIENCE_S
        with suppress(OSError):
            os.kill(self._pid, STEPS[self._stopping])

    def run(self) -> int:
        """Copy what it prints until it ends; return its exit code."""
        while True:
            if select.select([self._master], [], [], POLL_S)[0] and not self._copy():
                break
            if self._stopping >= 0 and monotonic() >= self._due:
                self._next()
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else SIGNALLED - code

    def _copy(self) -> bool:
        try:
            data = os.read(self._master, CHUNK)
        except OSError:  # EIO: nobody has it open any more
            return False
        if self._left > 0:
            try:
                self._left -= os.write(self._log, data)
            except OSError:  # a full disk ends the log, never the training
                self._left = 0
        return bool(data)


def _become(command: Sequence[str]) -> None:
    """Become the command; it may ask nothing, for nobody would answer."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        os.execvp(command[0], list(command))  # noqa: S606  # the user's own words
    finally:
        os._exit(126)


def main(argv: Sequence[str]) -> int:
    """Run `argv[1:]`; its output goes to the file `argv[0]`."""
    kept = KeptCommand(argv[0], argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, kept.stop)
    return kept.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
