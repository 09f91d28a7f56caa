"""Start a module of ours in a process of its own, with this process's module search path and nothing of the user's folder.

`python -m` would be shorter; it puts the current folder first, and a stray `types.py` there would break every child.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from time import monotonic, sleep

# os.pathsep cannot stand in a path of the search path, so it may part them.
BOOT = (
    "import sys, os; sys.path[:] = sys.argv.pop(1).split(os.pathsep); "
    "import runpy; runpy.run_module(sys.argv.pop(1), run_name='__main__')"
)
# A killed child is gone in under 10 ms (measured here); one in an uninterruptible call is left behind, and asked about later.
REAP_WAIT_S, REAP_STEP_S = 0.1, 0.005

abandoned: list[subprocess.Popen[bytes]] = []


def reap(wait_s: float = 0.0) -> None:
    """Collect the killed children that have ended; wait at most so long for them."""
    limit = monotonic() + wait_s
    while True:
        abandoned[:] = [each for each in abandoned if each.poll() is None]
        if not abandoned or monotonic() >= limit:
            return
        sleep(REAP_STEP_S)


class Child:
    """A running child. Its messages come through `fd`; it ends when its standard input does."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", BOOT, os.pathsep.join(sys.path), module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdout is not None  # noqa: S101  # asked for above
        self.fd = self._process.stdout.fileno()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def tell(self, words: str) -> None:
        """Send one line; a child that is gone is told nothing."""
        assert self._process.stdin is not None  # noqa: S101  # asked for above
        with suppress(OSError, ValueError):
            self._process.stdin.write(f"{words}\n".encode())

    def stop_listening(self) -> None:
        """Close its standard input, as the end of this process would."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def ask_to_end(self) -> None:
        """Send SIGINT, so that it can end what it started."""
        with suppress(OSError):
            os.kill(self._process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill it and what it started, without waiting: in a driver call that never returns SIGKILL has no effect."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        abandoned.append(self._process)
        reap(REAP_WAIT_S)

    def ended(self, wait_s: float = 0.0) -> int | None:
        """Return its exit code, negative for a signal; None while it lives. The code comes a moment after the pipe's end."""
        limit = monotonic() + wait_s
        while self._process.poll() is None and monotonic() < limit:
            sleep(REAP_STEP_S)
        return self._process.returncode
