"""Messages between our own processes: pickled, each behind its length, through a pipe.

JSON would be readable; these bytes live for milliseconds between two processes of one program, and pickling keeps types.
"""

from __future__ import annotations

import os
import pickle
import struct

LENGTH = struct.Struct("!I")
CHUNK = 1 << 16  # the capacity of a Linux pipe (man 7 pipe)


class BrokenMessageError(Exception):
    """What came is no message: one whose memory a driver overwrote writes anything."""


def taken(buffer: bytearray, kind: type | tuple[type, ...] = object) -> list[object]:
    """Take the messages that are complete out of the buffer. Raises BrokenMessageError, also for one of another type."""
    messages: list[object] = []
    while len(buffer) >= LENGTH.size:
        (length,) = LENGTH.unpack_from(buffer)
        end = LENGTH.size + length
        if len(buffer) < end:
            break
        try:
            message: object = pickle.loads(buffer[LENGTH.size : end])  # noqa: S301  # written by our own child
        except Exception as error:
            raise BrokenMessageError(f"{type(error).__name__}: {error}") from error
        if not isinstance(message, kind):
            raise BrokenMessageError(f"a {type(message).__name__} came")
        messages.append(message)
        del buffer[:end]
    return messages


def send(fd: int, message: object) -> None:
    """Write one message. Raises OSError when nobody reads any more, and what pickling raises."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    view = memoryview(LENGTH.pack(len(body)) + body)
    while view:
        view = view[os.write(fd, view) :]
