"""What the command prints, wherever it goes, as rows of `messages`.

A terminal is heard by the pseudo-terminal, a pipe by the relay, a file is read where it lies. A pipe in front of every stream
would be one way instead of three; it would turn files into pipes and cut the command's output off from its ends when the
wrapper dies. Sockets and devices stay as they are, and unread.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

from gpudoctor.logs.reader import EventReader
from gpudoctor.profile import relay
from gpudoctor.profile.agent.unheard import written
from gpudoctor.profile.careful_tap import Add, CarefulTap
from gpudoctor.profile.last_words import last_words
from gpudoctor.profile.terminal import Streams, Terminal
from gpudoctor.profile.text_tap import MakeReader

STDOUT, STDERR = 1, 2
READ_S, END_S = 0.1, 0.5  # of each second, and at the end: a tenth of one core while a script floods its output
MOST_LEFT_BYTES = 32 << 20  # of a file, read at the end; a larger rest is cut in front (0.2-0.5 s of reading)
BLOCK = 1 << 20


class Printed:
    """Reads along. Made before any thread starts."""

    def __init__(self, terminal: Terminal | None, spool: Path, add: Add, reader: MakeReader = EventReader) -> None:
        """Choose the way. `add` takes a table and a row; it is called by `tick` and `finish` only."""
        self._terminal, self._relay = terminal, None
        self._add, self._reader, self._spool = add, reader, spool
        self._taps: list[CarefulTap] = []
        self._files: list[_File] = []
        seen: set[tuple[int, int]] = set()
        for name, number in (("stderr", STDERR), ("stdout", STDOUT)):
            place = _file_of(number)
            if place is not None and place not in seen:
                seen.add(place)
                with suppress(OSError):
                    self._files.append(_File(number, self._tap(name)))
        if terminal is not None:
            terminal.hear = self._tap("terminal").hear
        elif relay.wanted():
            with suppress(OSError):  # no process to be had: the stream stays as it is, unread
                self._relay = relay.Relay(spool, reader)

    def _tap(self, name: str) -> CarefulTap:
        tap = CarefulTap(self._add, reader=self._reader, process=name)
        self._taps.append(tap)
        return tap

    def streams(self) -> Streams:
        """Return what the command gets as its streams."""
        if self._terminal is not None:
            return self._terminal.streams()
        return self._relay.streams() if self._relay is not None else Streams()

    def started(self) -> None:
        """Note that the command has its streams."""
        if self._relay is not None:
            self._relay.started()

    def tick(self) -> None:
        """Read what came since."""
        for file in self._files:
            file.take()
        for tap in self._taps:
            tap.read(READ_S)

    def finish(self, *, patient: bool) -> None:
        """Take the rest, when the command has ended; `patient`: something of ours is to stand behind its output."""
        if self._relay is not None:
            self._relay.finish(patient=patient)
        self._print_last_words()
        for file in self._files:
            file.take_last()
        for tap in self._taps:
            tap.finish(END_S)

    def _print_last_words(self) -> None:
        words = last_words(self._spool)
        if words:
            written(STDERR, words)
            if _file_of(STDERR) is None:
                self._tap("last_words").hear(words)


class _File:
    """A file that is open as one of our streams, read through a descriptor of its own from where it stands now."""

    def __init__(self, number: int, tap: CarefulTap) -> None:
        self._tap = tap
        self._file = os.open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        appends = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_APPEND
        self._at = os.fstat(self._file).st_size if appends else os.lseek(number, 0, os.SEEK_CUR)

    def take(self) -> None:
        """Hear what is there, as much as the tap holds; the rest stays in the file."""
        with suppress(OSError):
            self._at = min(self._at, os.fstat(self._file).st_size)  # it was cut: a new beginning
            while not self._tap.is_full and (data := os.pread(self._file, BLOCK, self._at)):
                self._at += len(data)
                self._tap.hear(data)

    def take_last(self) -> None:
        """Hear the rest, from its last part on where there is too much of it."""
        with suppress(OSError):
            over = os.fstat(self._file).st_size - self._at - MOST_LEFT_BYTES
            if over > 0:
                self._tap.leave_out(over)
                self._at += over
            before = -1
            while before != self._at:
                before = self._at
                self.take()
                self._tap.read(END_S)
            os.close(self._file)


def _file_of(number: int) -> tuple[int, int] | None:
    """Return which regular file the stream is, None for anything else."""
    try:
        told = os.fstat(number)
    except OSError:
        return None
    return (told.st_dev, told.st_ino) if stat.S_ISREG(told.st_mode) else None
