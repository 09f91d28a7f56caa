"""The screen's side of the sampler: take its readings, notice when it hangs or dies, and start another.

A child is never waited for. One whose NVML does not answer is killed and replaced by one that leaves NVML alone for a while,
so that the host's figures go on; the while doubles with each failure, for a sick driver must not be hammered.
"""

from __future__ import annotations

from time import monotonic
from typing import cast

from gpudoctor.tui.messages import Reading
from gpudoctor.tui.sampling.child import Child
from gpudoctor.tui.sampling.wire import Ended, Inbox

MODULE = "gpudoctor.tui.sampling.sampler"
# Policy. NVML answers in milliseconds; ten silent seconds are not load. The scan's own deadline of 3 s would restart a driver
# that is merely waking a GPU.
HUNG_AFTER_S = 10.0
STALE_AFTER_S = 3.0  # the deadline of a passive source, collect/isolate.py: from here on the screen says so
FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 1.0, 60.0
STATUS_WAIT_S = 0.1  # as in child.py: measured under 10 ms
RETRY_REFUSED_S = 30.0  # a driver may be loaded while we watch; only a fresh process sees it


class SamplerLink:
    """One sampler at a time."""

    def __init__(
        self,
        root: str = "/",
        interval_s: float = 1.0,
        *,
        stale_after_s: float = STALE_AFTER_S,
        hung_after_s: float = HUNG_AFTER_S,
    ) -> None:
        self._root, self._interval_s = root, interval_s
        self._stale_after_s, self._hung_after_s = stale_after_s, hung_after_s
        self._tree = False
        self.backoff_s = FIRST_BACKOFF_S
        self._nvml_at: float | None = None
        self.trouble = ""
        self.restarts = 0
        self._start(0.0)

    def _start(self, delay_s: float) -> None:
        self.child = Child(
            MODULE, "--root", self._root, "--interval", f"{self._interval_s:g}", "--delay", f"{delay_s:g}"
        )
        self._inbox = Inbox(self.child.fd, Reading)
        now = monotonic()
        self._started, self._heard = now, now
        self._nvml_due = now + delay_s
        if self._tree:
            self.tell("tree 1")

    @property
    def fd(self) -> int:
        """Return the descriptor to watch; it changes with each restart."""
        return self.child.fd

    @property
    def pid(self) -> int:
        """Return the sampler's process id."""
        return self.child.pid

    def tell(self, words: str) -> None:
        """Pass a command on."""
        if words.startswith("tree "):
            self._tree = words == "tree 1"
        elif words.startswith("interval "):
            self._interval_s = float(words.partition(" ")[2])
        self.child.tell(words)

    def take(self) -> Reading | None:
        """Return the newest reading, if one has come; may replace the child."""
        try:
            readings = cast("list[Reading]", self._inbox.take())
        except Ended:
            code = self.child.ended(STATUS_WAIT_S)
            how = f"signal {-code}" if code is not None and code < 0 else "without a word"
            self._replace(f"NVML sampling ended ({how})")
            return None
        if not readings:
            return None
        reading = readings[-1]
        self._heard = monotonic()
        self._judge(reading)
        return reading

    def check(self) -> None:
        """Replace a child that has fallen silent altogether; to be called now and then."""
        silent_s = monotonic() - self._heard
        if silent_s > self._hung_after_s + self._interval_s:
            self._replace(f"the sampler is silent since {silent_s:.0f} s")

    def _judge(self, reading: Reading) -> None:
        now = monotonic()
        if now < self._nvml_due:
            return
        age = min(reading.gpus_age_s, now - self._nvml_due)
        if age < self._stale_after_s:
            fresh = reading.nvml.status == "ok"
            if fresh:
                self._nvml_at, self.trouble = now, ""
                if now - self._nvml_due > self.backoff_s:
                    self.backoff_s = FIRST_BACKOFF_S
            elif isinstance(reading.nvml.status, str) and now - self._started > RETRY_REFUSED_S:
                self._restart(0.0)
            return
        since = now - (self._nvml_at if self._nvml_at is not None else self._nvml_due)
        self.trouble = f"NVML does not answer since {since:.0f} s"
        if age >= self._hung_after_s:
            self._replace(self.trouble)

    def _replace(self, why: str) -> None:
        delay, self.backoff_s = self.backoff_s, min(2 * self.backoff_s, LONGEST_BACKOFF_S)
        self.trouble = f"{why}; asked again in {delay:.0f} s"
        self._restart(delay)

    def _restart(self, delay_s: float) -> None:
        self.child.kill()
        self.restarts += 1
        self._start(delay_s)

    def close(self) -> None:
        """End the sampler."""
        self.child.kill()
