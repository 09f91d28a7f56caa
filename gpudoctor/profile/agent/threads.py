"""Threads of ours: all of them have ended before the interpreter does.

A thread that is inside TensorFlow's C++ when Python is finalised gets unwound as soon as it wants the interpreter back,
through frames that forbid it, and the process aborts (exit code 134, seen once in some hundred runs). So a thread is never
left behind: at exit it is asked to stop and waited for. They are started through `_thread`, so that
`threading.enumerate()` and the interpreter's own joining do not see them.
"""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable
from typing import Any

# Measured: a window of 4 s of 32-unit layers at full pace (35 MiB) took 7.0 s to stop and write on two cores at a load of 7.7,
# the longest seen. Eight times that; beyond it an abort is better than a hang.
MOST_S = 60.0


class Threads:
    """What runs in this process. `stop` is held until all are asked to stop."""

    def __init__(self) -> None:
        self.stop = _thread.allocate_lock()
        self.stop.acquire(False)
        self.running: list[Any] = []
        self.ending = False


threads = Threads()


def start(function: Callable[..., None], *given: Any) -> None:
    """Run a function in a thread of ours; none begins once the end has."""
    if threads.ending:
        return
    running, ended = threads.running, _thread.allocate_lock()
    ended.acquire(False)
    running.append(ended)
    try:
        _thread.start_new_thread(_run, (running, ended, function, given))
    except BaseException:
        running.remove(ended)
        raise


def _run(running: list[Any], ended: Any, function: Callable[..., None], given: Any) -> None:
    try:
        function(*given)
    except BaseException:  # something of ours is broken: never a traceback in the user's output
        return
    finally:
        running.remove(ended)
        ended.release()


def stopped(within_s: float) -> bool:
    """Wait this long; return at once, and True, when the threads are to stop."""
    stop = threads.stop
    if not stop.acquire(timeout=within_s):
        return False
    stop.release()
    return True


def ask() -> None:
    """Let no thread begin, and have those that wait stop."""
    threads.ending = True
    if threads.stop.locked():
        threads.stop.release()


def wait() -> bool:
    """Return whether all have ended in time, those included that another one began meanwhile."""
    latest = time.monotonic() + MOST_S
    while True:
        left = list(threads.running)  # each takes itself off
        if not left:
            return True
        if not left[0].acquire(timeout=max(0.0, latest - time.monotonic())):
            return False
        left[0].release()


def forget() -> None:
    """Begin anew in a forked child, which has no thread but one."""
    threads.__dict__.update(Threads().__dict__)
