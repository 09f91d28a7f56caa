"""The time left, for a progress bar: the expected seconds of what is not done, scaled by how fast this machine was so far."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from gpudoctor.probe import wire
from gpudoctor.probe.plan import TrialPlan

START_EXPECTED_S = 4.0  # measured: interpreter and import, 2-5 s from a warm disk
SLOWEST_TELL_S = 0.2  # a bar need not move more often


class Progress(Protocol):
    """Is told what runs now."""

    def trial(self, name: str, done: int, total: int, left_s: float) -> None:
        """Note what runs, how many trials are done, and the seconds expected for the rest."""
        ...


class Clock:
    """Listens to the children's messages and tells the progress."""

    def __init__(self, plans: Sequence[TrialPlan], progress: Progress | None) -> None:
        """Start with everything still to do."""
        self._progress = progress
        self._expected = {plan.name: plan.expected_s for plan in plans}
        self._starts = len({plan.environment for plan in plans})
        self._done: list[str] = []
        self._running, self._share = "", 0.0
        self._begun, self._told = time.monotonic(), 0.0
        self._spent_expected_s = 0.0

    def starts(self) -> None:
        """Note that a child starts."""
        self._running, self._share = "start", 0.0
        self._tell(always=True)

    def listen(self, message: wire.Message) -> None:
        """Take a child's message."""
        match message:
            case wire.Devices():
                self._starts = max(0, self._starts - 1)
                self._spent_expected_s += START_EXPECTED_S
            case wire.Begin(name=name):
                self._running, self._share = name, 0.0
                self._tell(always=True)
            case wire.Advance(share=share):
                self._share = min(1.0, max(0.0, share))
                self._tell(always=False)
            case wire.Finished(trial=trial):
                self._done.append(trial.name)
                self._spent_expected_s += self._expected.get(trial.name, 0.0)
                self._running, self._share = "", 0.0
            case _:
                pass

    def left_s(self) -> float:
        """Return the seconds that the rest is expected to take."""
        rest = sum(seconds for name, seconds in self._expected.items() if name not in self._done)
        rest += self._starts * START_EXPECTED_S - self._share * self._expected.get(self._running, 0.0)
        return max(0.0, rest) * self._pace()

    def _pace(self) -> float:
        """Return how much slower than expected it went; 1 until something is done."""
        spent = self._spent_expected_s + self._share * self._expected.get(self._running, 0.0)
        return 1.0 if spent <= 0 else max(0.5, (time.monotonic() - self._begun) / spent)

    def _tell(self, *, always: bool) -> None:
        now = time.monotonic()
        if self._progress is not None and (always or now - self._told >= SLOWEST_TELL_S):
            self._told = now
            self._progress.trial(self._running, len(self._done), len(self._expected), self.left_s())
