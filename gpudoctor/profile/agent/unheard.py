"""Keep the lines that TensorFlow's profiler logs out of the script's stderr; everything else that is written meanwhile stays.

The level of TensorFlow's log is read once and cannot be changed behind it; turning file descriptor 2 aside would also catch
what the script writes; and TensorFlow up to 2.15 keeps a copy of the C library's `stderr` pointer. So the stream itself
writes into a file in memory while the profiler starts and stops (some tens of milliseconds), and what other threads of
TensorFlow's logged there goes on to the real one. Where that stream is not laid out as expected there are no windows.
"""

from __future__ import annotations

import os
from typing import Any

# where the lines that only a profiling session prints come from (measured: TensorFlow 2.15, 2.16, 2.21; the last three: GPU)
SOURCES = (
    b"profiler_session.cc:",
    b"save_profile.cc:",
    b"session_manager.cc:",
    b"cupti_",
    b"device_tracer",
    b"gpu_tracer",
)
FILENO_AT = 112  # of `_fileno` in glibc's FILE on 64-bit systems; checked against fileno() before it is relied on


class Aside:
    """The file in memory, and the number of the file that the C library's stderr writes to."""

    def __init__(self) -> None:
        import ctypes

        library = ctypes.CDLL(None)
        library.fileno.argtypes = [ctypes.c_void_p]
        stream = ctypes.c_void_p.in_dll(library, "stderr").value or 0
        self._number = ctypes.c_int.from_address(stream + FILENO_AT)
        self._real, self._read = self._number.value, 0
        self._memory = os.memfd_create("gpudoctor")
        if library.fileno(stream) != self._real or not self._checked(library, stream):
            raise OSError("the C library's stderr is not known here")

    def _checked(self, library: Any, stream: int) -> bool:
        self._number.value = self._memory
        try:
            return bool(library.fileno(stream) == self._memory)
        finally:
            self._number.value = self._real

    def __enter__(self) -> None:
        self._number.value = self._memory

    def __exit__(self, *error: object) -> None:
        self._number.value = self._real
        self.pass_on()

    def pass_on(self) -> None:
        """Write what is not the profiler's to the real stderr."""
        size = os.fstat(self._memory).st_size
        data = os.pread(self._memory, size - self._read, self._read)
        self._read = size
        others = b"".join(line for line in data.splitlines(keepends=True) if not _profilers(line))
        while others:
            others = others[os.write(self._real, others) :]


def _profilers(line: bytes) -> bool:
    return any(source in line.partition(b"]")[0] for source in SOURCES)


_made: list[Aside] = []


def aside() -> Aside:
    """Return the one of this process. The file is never closed: a thread may be about to write to it."""
    if not _made:
        _made.append(Aside())
    return _made[0]


def forget() -> None:
    """Leave a parent's file to the parent."""
    _made.clear()


def made() -> bool:
    """Return whether it was ever needed."""
    return bool(_made)
