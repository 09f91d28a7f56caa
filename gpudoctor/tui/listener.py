"""Descriptors of children, watched by the event loop: a callback when one has something to read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Listener:
    """Knows what it watches, for a descriptor is closed and its number reused while children come and go."""

    def __init__(self) -> None:
        self._watched: set[int] = set()

    def listen(self, fd: int | None, callback: Callable[[], None]) -> None:
        """Call back whenever the descriptor can be read."""
        if fd is not None:
            asyncio.get_running_loop().add_reader(fd, callback)
            self._watched.add(fd)

    def forget(self, fd: int | None) -> None:
        """Watch it no more."""
        if fd is not None and fd in self._watched:
            asyncio.get_running_loop().remove_reader(fd)
            self._watched.discard(fd)
