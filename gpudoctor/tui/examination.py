"""A scan that runs beside the screen: start it, follow it, cancel it. Only a key starts one."""

from __future__ import annotations

from time import monotonic
from typing import cast

from gpudoctor.tui.messages import Progress
from gpudoctor.tui.sampling.child import Child
from gpudoctor.tui.sampling.wire import Ended, Inbox

MODULE = "gpudoctor.tui.sampling.examiner"
STATUS_WAIT_S = 0.1  # as in child.py: measured under 10 ms
END_GRACE_S = 3.0  # after SIGINT the probe's own children are ended in well under a second; then it is killed


class Examination:
    """One run of the examiner."""

    def __init__(self, title: str, *arguments: str) -> None:
        self.title, self.started = title, monotonic()
        self.last = Progress()
        self._child = Child(MODULE, *arguments)
        self._inbox = Inbox(self._child.fd, Progress)
        self._cancelled_at: float | None = None

    @property
    def fd(self) -> int:
        """Return the descriptor to watch."""
        return self._child.fd

    @property
    def cancelled(self) -> bool:
        """Return whether somebody asked it to end."""
        return self._cancelled_at is not None

    def take(self) -> Progress | None:
        """Return the newest news."""
        try:
            told = cast("list[Progress]", self._inbox.take())
        except Ended:
            code = self._child.ended(STATUS_WAIT_S)
            how = "was cancelled" if self.cancelled else f"ended without a report (exit {code})"
            told = [Progress(failure=f"the {self.title} {how}")]
        if not told:
            return None
        self.last = told[-1]
        if self.last.ended:
            self.close()
        return self.last

    def cancel(self) -> None:
        """Ask it to end; after a grace, `check` kills it."""
        if self._cancelled_at is None:
            self._cancelled_at = monotonic()
            self._child.ask_to_end()

    def check(self) -> Progress | None:
        """Kill it where asking did not help, and say so; to be called now and then."""
        if self.last.ended or self._cancelled_at is None or monotonic() - self._cancelled_at < END_GRACE_S:
            return None
        self.last = Progress(failure=f"the {self.title} did not end by itself and was killed")
        self.close()
        return self.last

    def close(self) -> None:
        """Let go of the process."""
        self._child.kill()
