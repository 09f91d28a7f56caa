"""Keep the lines that TensorFlow's profiler logs out of the script's stderr; everything else that is written meanwhile stays.

The level of TensorFlow's log is read once and cannot be changed behind it, and turning file descriptor 2 aside would also
catch what the script writes. All of TensorFlow's loggers write to the C library's `stderr`, which that library documents as
a variable to be assigned: it points to a file in memory while the profiler starts and stops (some tens of milliseconds),
then what other threads of TensorFlow's logged there goes on to the real one.
"""

from __future__ import annotations

import os

# where the lines that only a profiling session prints come from (measured: TensorFlow 2.15, 2.16, 2.21; the last three: GPU)
SOURCES = (
    b"profiler_session.cc:",
    b"save_profile.cc:",
    b"session_manager.cc:",
    b"cupti_",
    b"device_tracer",
    b"gpu_tracer",
)


class Aside:
    """The file in memory, and the C library's variable."""

    def __init__(self) -> None:
        import ctypes

        library = ctypes.CDLL(None)
        library.fdopen.restype = ctypes.c_void_p
        self._variable = ctypes.c_void_p.in_dll(library, "stderr")
        self._real = self._variable.value
        self._memory = os.memfd_create("gpudoctor")
        stream = ctypes.c_void_p(library.fdopen(self._memory, b"w"))
        library.setbuf(stream, None)
        self._stream = stream.value
        self._read = 0
        if not self._real or not self._stream:
            raise OSError("the C library's stderr cannot be turned aside")

    def __enter__(self) -> None:
        self._variable.value = self._stream

    def __exit__(self, *error: object) -> None:
        self._variable.value = self._real
        self.pass_on()

    def pass_on(self) -> None:
        """Write what is not the profiler's to the real stderr."""
        size = os.fstat(self._memory).st_size
        data = os.pread(self._memory, size - self._read, self._read)
        self._read = size
        others = b"".join(line for line in data.splitlines(keepends=True) if not _profilers(line))
        while others:
            others = others[os.write(2, others) :]


def _profilers(line: bytes) -> bool:
    return any(source in line.partition(b"]")[0] for source in SOURCES)


_made: list[Aside] = []


def aside() -> Aside:
    """Return the one of this process. The file is never closed: a thread may still hold the pointer to it."""
    if not _made:
        _made.append(Aside())
    return _made[0]


def made() -> bool:
    """Return whether it was ever needed."""
    return bool(_made)
