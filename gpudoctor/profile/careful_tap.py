"""A tap whose faults stay with it: the first makes it deaf and is said in an event; whoever passes the bytes on goes on.

The text is anybody's and the reader is large. Trusting it would be less code, and one line that it does not bear would end the
relay, and the command with it at its next write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from gpudoctor.logs.reader import EventReader
from gpudoctor.profile.text_tap import MakeReader, TextTap

FAULT = "reader_fault"
LONGEST = 300  # characters of what is said of it, as in the agent

Add = Callable[[str, Mapping[str, object]], None]  # a table of the session, and a row


class CarefulTap:
    """`TextTap` for those who must not fail."""

    def __init__(self, add: Add, *, reader: MakeReader = EventReader, **named: object) -> None:
        """Take who is given the rows; `named` stands in each row of `messages`."""
        self._add = add
        self._tap = TextTap(lambda row: add("messages", {**named, **row}), reader)
        self._deaf = False

    @property
    def is_full(self) -> bool:
        """Return whether more would be left out."""
        return self._deaf or self._tap.is_full

    def hear(self, data: bytes) -> None:
        """Take bytes to be read later."""
        self._try(partial(self._tap.hear, data))

    def leave_out(self, size: int) -> None:
        """Note that so many bytes are not read."""
        self._try(partial(self._tap.leave_out, size))

    def read(self, limit_s: float) -> None:
        """Read what waits, for this long at most."""
        self._try(partial(self._tap.read, limit_s))

    def finish(self, limit_s: float) -> None:
        """Read the rest."""
        self._try(partial(self._tap.finish, limit_s))

    def _try(self, work: Callable[[], None]) -> None:
        if self._deaf:
            return
        try:
            work()
        except Exception as error:  # noqa: BLE001  # the boundary: a fault of ours ends the reading, nothing else
            self._deaf = True
            text = f"what the command printed was not read on: {type(error).__name__}: {error}"[:LONGEST]
            with suppress(Exception):
                self._add("events", {"at": time.time(), "kind": FAULT, "text": text})
