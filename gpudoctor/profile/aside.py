"""A process of ours beside the command: forked before any thread starts, deaf to the command's signals, holding nothing open.

A thread would be lighter; it dies with the wrapper, and what hangs in it (a sick driver's call) hangs the wrapper. What a
forked copy keeps open must be closed by hand: a reader waits for the end of a pipe for as long as anybody holds it.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from gpudoctor.profile.spool import identity

DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
COLLECT_S = 0.1  # for one that has been killed; one that hangs in a driver is left to init
POLL_S = 0.005
ALL = 1 << 16  # where the open descriptors cannot be listed


def begin(work: Callable[[], None], keep: Collection[int]) -> int:
    """Fork; the copy does the work with only the descriptors in `keep` open, and ends. Return its pid. Raises OSError."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            gc.disable()
            _let_go(keep)
            for number in DEAF_TO:
                signal.signal(number, signal.SIG_IGN)
            work()
        finally:
            os._exit(0)
    return pid


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


def _let_go(keep: Collection[int]) -> None:
    """Close what was inherited; what stood on 0, 1 and 2 becomes /dev/null, or the next file opened would be stderr."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        if standard not in keep:
            os.dup2(null, standard)
    try:
        numbers = [int(each) for each in os.listdir("/proc/self/fd")]  # noqa: PTH208  # names only
    except OSError:
        numbers = list(range(3, ALL))
    for number in numbers:
        if number > 2 and number not in keep:
            with suppress(OSError):
                os.close(number)
