"""Read a file that somebody else may have made: never more of it than such a file can hold, whatever it is."""

from __future__ import annotations

import os
import stat
import sys

from gpudoctor.errors import UsageError


def read_bounded(path: str, limit: int, *, cure: str, error: type[UsageError] = UsageError) -> bytes:
    """Return the content of the file (`-`: stdin), one byte more than the limit at most, so that "too large" is seen.

    Raises the given error, naming the cure, for what cannot be read. A pipe without a writer must not hang the run.
    """
    try:
        if path == "-":
            return sys.stdin.buffer.read(limit + 1)
        number = _open_without_waiting(path)
        try:
            return _all_of(number, limit + 1)
        finally:
            os.close(number)
    except OSError as failure:
        raise error(f"{path}: cannot be read ({failure.strerror or failure}); {cure}") from failure
    except ValueError as failure:  # a zero byte in the name
        raise error(f"{path!r}: cannot be read ({failure}); {cure}") from failure


def _open_without_waiting(path: str) -> int:
    """Open; a named pipe that nobody writes to is empty instead of a wait without end."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    number = os.open(path, flags)
    if stat.S_ISFIFO(os.fstat(number).st_mode):
        os.set_blocking(number, True)
    return number


def _all_of(number: int, most: int) -> bytes:
    parts: list[bytes] = []
    left = most
    while left and (part := os.read(number, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
