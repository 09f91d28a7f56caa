"""The reading end of a child's messages, for a screen that never waits on a pipe."""

from __future__ import annotations

import os

from gpudoctor.collect.framing import CHUNK, BrokenMessageError, send, taken

__all__ = ["Ended", "Inbox", "send"]


class Ended(Exception):  # noqa: N818  # an event, not an error
    """The other end of the pipe is closed, or sends what is no message."""


class Inbox:
    """The reading end. `kind`: what the messages have to be."""

    def __init__(self, fd: int, kind: type = object) -> None:
        os.set_blocking(fd, False)
        self._fd, self._kind, self._buffer = fd, kind, bytearray()

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
        try:
            return taken(self._buffer, self._kind)
        except BrokenMessageError as error:
            raise Ended from error
