"""The screen's side of the reader of a session: take its news, and start it again where it died.

One session at a time: another one is read by another process, so that what was read of the first is gone with it.
"""

from __future__ import annotations

from time import monotonic
from typing import cast

from gpudoctor.tui.run_news import Recorded, RunNews
from gpudoctor.tui.sampling.child import Child
from gpudoctor.tui.sampling.wire import Ended, Inbox

MODULE = "gpudoctor.tui.sampling.run_reader"
# Policy: a reader that died of a file it cannot read dies again; each start costs a quarter of a second of a core.
FIRST_RETRY_S, LONGEST_RETRY_S = 5.0, 300.0
STATUS_WAIT_S = 0.1  # as in child.py: measured under 10 ms


class RunLink:
    """One reader."""

    def __init__(self, *arguments: str, path: str = "") -> None:
        self._arguments, self.path = arguments, path
        self.restarts, self.trouble, self._wishes = 0, "", dict[str, str]()
        self._died_at: float | None = None
        self._retry_s = FIRST_RETRY_S
        self._start()

    def _start(self) -> None:
        self._child = Child(MODULE, *self._arguments)
        self._inbox = Inbox(self._child.fd)
        for words in self._wishes.values():
            self._child.tell(words)

    @property
    def fd(self) -> int | None:
        """Return the descriptor to watch, None where the reader is dead."""
        return self._child.fd if self._died_at is None else None

    @property
    def pid(self) -> int:
        """Return the reader's process id."""
        return self._child.pid

    def tell(self, name: str, *values: object) -> None:
        """Pass a wish on, and keep it for a reader that follows this one."""
        words = " ".join([name, *map(str, values)])
        key = "at" if name == "jump" else name
        if self._wishes.get(key) != words:
            self._wishes[key] = words
            self._child.tell(words)

    def take(self) -> list[RunNews | Recorded]:
        """Return what has come."""
        try:
            told = cast("list[RunNews | Recorded]", self._inbox.take())
        except Ended:
            code = self._child.ended(STATUS_WAIT_S)
            self._child.kill()
            self.trouble, self._died_at = f"the reader of the session ended (exit {code})", monotonic()
            return []
        if any(isinstance(each, RunNews) and each.report is not None for each in told):
            self._retry_s = FIRST_RETRY_S
        return told

    def check(self) -> bool:
        """Start a dead reader again after a while; return whether that was done. To be called now and then."""
        if self._died_at is None or monotonic() - self._died_at < self._retry_s:
            return False
        self._died_at, self.trouble = None, ""
        self._retry_s = min(2 * self._retry_s, LONGEST_RETRY_S)
        self.restarts += 1
        self._start()
        return True

    def close(self) -> None:
        """End it."""
        if self._died_at is None:
            self._child.kill()
