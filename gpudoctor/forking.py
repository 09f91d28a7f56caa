"""A copy of this process that works alone: in a session of its own, holding nothing open, and gone without a trace.

`multiprocessing` would be less code; it joins its children, and one in a driver call that never returns is never joined. Signals
are held back around the fork: a handler that raised between it and the copy's own guard would unwind the parent's stack twice.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import NoReturn

FIRST_FREE_FD = 3
FDS_WITHOUT_PROC = 1 << 16  # closed blindly where /dev/fd does not list the open ones

Handlers = Mapping[signal.Signals, signal.Handlers]


def fork_alone(work: Callable[[], object], *, keep: Collection[int], handlers: Handlers) -> int:
    """Fork; return the pid of the copy, which does the work with only these files open and ends. Raises OSError.

    What was on 0, 1 and 2 is /dev/null there unless it is kept, or the next file opened would be stderr. To be called while
    no thread runs: the copy has none of them, but their locks.
    """
    held = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _be_alone(work, keep, handlers, held)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    return pid


def _be_alone(
    work: Callable[[], object], keep: Collection[int], handlers: Handlers, held: Collection[int | signal.Signals]
) -> NoReturn:
    code = 1
    try:
        os.setsid()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        _let_go(keep)
        gc.disable()  # a short life: what it would collect dies with the process
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        work()
        code = 0
    except BaseException:  # noqa: BLE001, S110  # nothing may escape into the parent's copied stack
        pass
    finally:
        os._exit(code)


def _let_go(keep: Collection[int]) -> None:
    """Close what was inherited: a copy that is left behind must not hold the user's terminal, pipes or files open."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(FIRST_FREE_FD):
        if standard not in keep:
            os.dup2(null, standard)
    for fd in _open_fds():
        if fd >= FIRST_FREE_FD and fd not in keep:
            with suppress(OSError):
                os.close(fd)


def _open_fds() -> Collection[int]:
    try:
        return [int(name) for name in os.listdir("/dev/fd")]  # noqa: PTH208  # names are wanted, not paths
    except (OSError, ValueError):
        return range(FDS_WITHOUT_PROC)
