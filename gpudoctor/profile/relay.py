"""stderr into a pipe: passed on by a process of its own, byte by byte and in order, and read for messages beside it.

Only a pipe needs this. A terminal has a pseudo-terminal already, a file is read where it lies, a socket (a service's journal
asks who writes to it) and /dev/null stay inherited. stdout is left alone unless it is the same pipe as stderr: then both get
the same one of ours, so that their order stays. A pipe before and a pipe now: nobody buffers otherwise. The relay outlives
the wrapper, for the command goes on when the wrapper is killed.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import select
import stat
import struct
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gpudoctor import codec
from gpudoctor.logs.reader import EventReader
from gpudoctor.profile import own_process
from gpudoctor.profile.careful_tap import CarefulTap
from gpudoctor.profile.terminal import Streams
from gpudoctor.profile.text_tap import MakeReader

STDOUT, STDERR = 1, 2
CHUNK = 1 << 20  # all that the pipe holds at once
CAPACITY = 1 << 20  # the largest that an unprivileged process may ask for (man 7 pipe, /proc/sys/fs/pipe-max-size)
READ_S, EVERY_S = 0.1, 1.0  # the reader's share while bytes keep coming: a tenth of a core
END_S = 0.5  # for what is left to be read at the end
POLL_S = 0.002
QUIET_END_S = 1.0  # policy: without a report that must stand behind the output nobody waits for a slow reader
CALM_S = (
    0.005  # reading at each moment's emptiness would hold up one who writes as fast as the pipe lets him (measured)
)
PAUSE_S = 0.1  # an empty pipe for so long is a pause
PAUSES = struct.Struct("=Q")  # how many there were, shared with the wrapper


def wanted() -> bool:
    """Return whether stderr is a pipe."""
    try:
        return stat.S_ISFIFO(os.fstat(STDERR).st_mode)
    except OSError:
        return False


class Relay:
    """Stands between the command's stderr and ours. Made before any thread, after what must not hold its pipe."""

    def __init__(self, spool: Path, reader: MakeReader = EventReader) -> None:
        """Fork it. Raises OSError."""
        read, self._write = os.pipe()
        with suppress(OSError):
            fcntl.fcntl(self._write, fcntl.F_SETPIPE_SZ, CAPACITY)
        self._pauses, self._ended = mmap.mmap(-1, PAUSES.size), False
        try:
            self._pid = own_process.begin(lambda: _pass_on(read, self._pauses, spool, reader), {read, STDERR})
        except OSError:
            os.close(self._write)
            raise
        finally:
            os.close(read)  # the relay alone has it: when it goes, for nobody reads on, the command is to be told

    def streams(self) -> Streams:
        """Return what the command gets."""
        return Streams(stdout=self._write if _one_file(STDOUT, STDERR) else None, stderr=self._write)

    def started(self) -> None:
        """Let go of the command's end: when the command ends, the relay sees it."""
        os.close(self._write)

    def finish(self, *, patient: bool) -> None:
        """Wait until what the command wrote has been passed on: to the pipe's end, or until it has been empty for a while.

        Who the command left behind may hold it open for ever.
        """
        until = None if patient else time.monotonic() + QUIET_END_S
        calm = self._paused() + 2  # the first of the two may have begun before the command's last word
        while not self._over() and self._paused() < calm and (until is None or time.monotonic() < until):
            time.sleep(POLL_S)

    def _paused(self) -> int:
        return int(PAUSES.unpack(self._pauses[:])[0])

    def _over(self) -> bool:
        self._ended = self._ended or own_process.has_ended(self._pid)
        return self._ended


def _one_file(first: int, second: int) -> bool:
    try:
        return os.path.samestat(os.fstat(first), os.fstat(second))
    except OSError:
        return False


def _pass_on(source: int, pauses: mmap.mmap, spool: Path, reader: MakeReader) -> None:
    """Pass bytes on until nobody can write any more, or nobody reads: closing our end tells the command."""
    file, count = -1, 0
    with suppress(OSError):
        file = own_process.spool_file(spool)
    tap = CarefulTap(lambda table, row: _spool(file, table, row), reader=reader)
    due = time.monotonic() + EVERY_S
    while True:
        if not select.select([source], [], [], CALM_S)[0]:
            tap.read(READ_S)
            if not select.select([source], [], [], PAUSE_S)[0]:
                count += 1
                PAUSES.pack_into(pauses, 0, count)
                continue
        data = os.read(source, CHUNK)
        if not data or not _write(data):
            break
        tap.hear(data)
        if time.monotonic() >= due:
            tap.read(READ_S)
            due = time.monotonic() + EVERY_S
    os.close(source)
    tap.finish(END_S)


def _write(data: bytes) -> bool:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(STDERR, view) :]
        except BlockingIOError:  # noqa: PERF203  # whoever shares the pipe has made it so
            select.select([], [STDERR], [])
        except OSError:
            return False
    return True


def _spool(file: int, table: str, row: Mapping[str, object]) -> None:
    with suppress(OSError):
        os.write(file, (codec.compact([table, row]) + "\n").encode())
