"""Keep the lines that TensorFlow's profiler logs out of the script's stderr; everything else that is written meanwhile stays.

The level of TensorFlow's log is read once and cannot be changed behind it; turning file descriptor 2 aside would also catch
what the script writes; and TensorFlow up to 2.15 keeps a copy of the C library's `stderr` pointer. So the stream itself
writes into a file of the spool while the profiler starts and stops (some tens of milliseconds), and what other threads of
TensorFlow's logged there goes on to the real one. A file in memory would end with the process, and its last words with it:
what a process that died in between left there, the wrapper prints. Where that stream is not laid out as expected there are
no windows.
"""

from __future__ import annotations

import os
import select
import time
from typing import Any

SUFFIX = ".unheard"
PASSED = b"\0"  # overwrites what has been passed on
# where the lines that only a profiling session prints come from (measured: TensorFlow 2.15, 2.16, 2.21; the last three: GPU)
SOURCES = (
    b"profiler_session.cc:",
    b"save_profile.cc:",
    b"session_manager.cc:",
    b"cupti_",
    b"device_tracer",
    b"gpu_tracer",
)
FATAL = b": F "  # the level in TensorFlow's prefix: the process's last line, wherever it is from
FILENO_AT = 112  # of `_fileno` in glibc's FILE on 64-bit systems; checked against fileno() before it is relied on
PATIENCE_S = (
    1.0  # policy: longer nobody of ours waits for a full pipe that does not block; the rest goes on the next time
)


class Aside:
    """The file, and the number of the file that the C library's stderr writes to."""

    def __init__(self, path: str) -> None:
        import ctypes

        library = ctypes.CDLL(None)
        library.fileno.argtypes = [ctypes.c_void_p]
        stream = ctypes.c_void_p.in_dll(library, "stderr").value or 0
        self._number = ctypes.c_int.from_address(stream + FILENO_AT)
        self._real, self._read = self._number.value, 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        if library.fileno(stream) != self._real or not self._checked(library, stream):
            raise OSError("the C library's stderr is not known here")

    def _checked(self, library: Any, stream: int) -> bool:
        self._number.value = self._file
        try:
            return bool(library.fileno(stream) == self._file)
        finally:
            self._number.value = self._real

    def __enter__(self) -> None:
        self._number.value = self._file

    def __exit__(self, *error: object) -> None:
        self.restore()
        self.pass_on()

    def restore(self) -> None:
        """Let the stream write where it did."""
        self._number.value = self._real

    def pass_on(self) -> None:
        """Write what is not the profiler's to the real stderr."""
        size = os.fstat(self._file).st_size
        for line in os.pread(self._file, size - self._read, self._read).splitlines(keepends=True):
            done = len(line) if profilers(line) else written(self._real, line)
            os.pwrite(self._file, PASSED * done, self._read)
            self._read += done
            if done < len(line):
                return


def written(number: int, data: bytes) -> int:
    """Return how much of it has been written, to a file that may not block; nobody reads on: all of it."""
    done, latest = 0, time.monotonic() + PATIENCE_S
    while done < len(data):
        try:
            done += os.write(number, data[done:])
        except BlockingIOError:
            left = latest - time.monotonic()
            poll = select.poll()
            poll.register(number, select.POLLOUT)
            if left <= 0 or not poll.poll(1000 * left):
                return done
        except OSError:
            return len(data)
    return done


def profilers(line: bytes) -> bool:
    """Return whether only a profiling session prints such a line."""
    head = line.partition(b"]")[0]
    return FATAL not in head and any(source in head for source in SOURCES)


_made: list[Aside] = []


def aside() -> Aside:
    """Return the one of this process. The file is never closed: a thread may be about to write to it."""
    if not _made:
        from . import core

        _made.append(Aside(os.path.join(core.process.spool, core.process.name + SUFFIX)))
    return _made[0]


def forget() -> None:
    """In a forked child: leave the parent's file to the parent, whatever it was just doing."""
    for each in _made:
        each.restore()
    _made.clear()


def made() -> bool:
    """Return whether it was ever needed."""
    return bool(_made)
