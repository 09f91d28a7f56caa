"""A process of ours beside the command: forked before any thread starts, deaf to the command's signals, holding nothing open.

A thread would be lighter; it dies with the wrapper, and what hangs in it (a sick driver's call) hangs the wrapper.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from gpudoctor.forking import fork_alone
from gpudoctor.profile.spool import identity

DEAF_TO: dict[signal.Signals, signal.Handlers] = dict.fromkeys(
    (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE), signal.SIG_IGN
)
COLLECT_S = 0.1  # for one that has been killed; one that hangs in a driver is left to init
POLL_S = 0.005


def begin(work: Callable[[], None], keep: Collection[int]) -> int:
    """Fork; the copy does the work with only the descriptors in `keep` open, and ends. Return its pid. Raises OSError."""
    return fork_alone(work, keep=keep, handlers=DEAF_TO)


def spool_file(spool: Path) -> int:
    """Open this process's file in the spool, as an agent does. Raises OSError."""
    path = spool / f"{identity(os.getpid())}.0.jsonl"
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def has_ended(pid: int) -> bool:
    """Return whether it has ended, and collect it then."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except OSError:
        return True


def end(pid: int) -> None:
    """Kill it; collect it only if it is gone at once."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + COLLECT_S
    while not has_ended(pid) and time.monotonic() < until:
        time.sleep(POLL_S)
