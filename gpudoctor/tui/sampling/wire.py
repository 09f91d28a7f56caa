"""Messages of our own children: pickled, each behind its length, through a pipe that the reader never waits on.

JSON would be readable; these bytes live for milliseconds between two processes of one program, and pickling keeps types.
"""

from __future__ import annotations

import os
import pickle
import struct

LENGTH = struct.Struct("!I")
CHUNK = 1 << 16  # the capacity of a Linux pipe (man 7 pipe)


class Ended(Exception):  # noqa: N818  # an event, not an error
    """The other end of the pipe is closed, or sends what is no message."""


class Inbox:
    """The reading end."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd, self._buffer = fd, bytearray()

    def take(self) -> list[object]:
        """Return the messages that are complete. Raises Ended when no more can come."""
        while True:
            try:
                chunk = os.read(self._fd, CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                raise Ended
            self._buffer += chunk
        return self._complete()

    def _complete(self) -> list[object]:
        messages: list[object] = []
        while len(self._buffer) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._buffer)
            end = LENGTH.size + length
            if len(self._buffer) < end:
                break
            try:
                messages.append(pickle.loads(self._buffer[LENGTH.size : end]))  # noqa: S301  # written by our own child
            except Exception as error:  # one whose memory a driver overwrote writes anything
                raise Ended from error
            del self._buffer[:end]
        return messages


def send(fd: int, message: object) -> None:
    """Write one message. Raises OSError when nobody reads any more."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    view = memoryview(LENGTH.pack(len(body)) + body)
    while view:
        view = view[os.write(fd, view) :]
