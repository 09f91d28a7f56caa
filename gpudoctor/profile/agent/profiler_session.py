"""One session of TensorFlow's profiler in this process: begun, ended, marked, dropped for others who need the profiler or fork.

TensorFlow has one profiler for a process, and a child that is forked while it records goes on recording.
"""

from __future__ import annotations

import _thread
import functools
import os
from typing import Any

from . import core, tables, threads, unheard

FORK_WAIT_S = 1.0  # policy: starting and stopping take tens of milliseconds; a longer export is not waited for
MARKER, PART = "gpudoctor_step", "gpudoctor_part"


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


NOTHING = _Nothing()


class Profiler:
    """The session of this process."""

    def __init__(self) -> None:
        self.lock = _thread.allocate_lock()  # holds while a session is started, stopped or dropped
        self.alarm = _thread.allocate_lock()  # released to end a window early
        self.session: Any = None
        self.open = self.forking = False
        self.tries = 0
        self.forbidden = ""
        self.dropped = ""


profiler = Profiler()


def start(mine: Profiler, folder: str) -> bool:
    """Begin a session, unless there must be none any more."""
    made = tables.tensorflow_module("profiler.internal._pywrap_profiler").ProfilerSession
    with mine.lock:
        if mine.forbidden or core.process.off or threads.threads.ending:
            return False
        with unheard.aside():
            session = made()
            session.start(folder, {})  # the defaults: host events of level 2, the device's
        mine.session = session
    return True


def stop(mine: Profiler, folder: str, *, keep: bool) -> str:
    """End the session and return the trace's file, "" where there is none."""
    with mine.lock:
        session, mine.session = mine.session, None
        if session is None:
            return ""
        with unheard.aside():
            if keep:
                session.export_to_tb()
            del session
    for place, _, names in os.walk(folder) if keep else ():
        for name in names:
            if name.endswith(".xplane.pb"):
                return os.path.join(place, name)
    return ""


def step() -> Any:
    """Return a scope that marks a step for XProf; while no session runs, nothing."""
    trace = tables.loaded("profiler.trace") if profiler.open else None
    return NOTHING if trace is None else trace.Trace(MARKER, step_num=profiler.tries, _r=1)


def part(*, counts: bool) -> Any:
    """Return the same for a call in a loop of the user's own: a step's marker where it counts as one, else a part's."""
    if not profiler.open:
        return NOTHING
    if counts:
        return step()
    trace = tables.loaded("profiler.trace")
    return NOTHING if trace is None else trace.Trace(PART)


def forbid(reason: str) -> None:
    """Let somebody else's session go first, now and from now on: TensorFlow would refuse theirs while ours is there."""
    profiler.forbidden = reason
    drop(reason, threads.MOST_S)


def drop(reason: str, within_s: float) -> None:
    """End a session under way, keeping nothing; one that is just being started or stopped for longer is abandoned.

    Called in the user's threads. An abandoned one ends as soon as its own thread can.
    """
    if not profiler.open:
        return
    if profiler.lock.acquire(timeout=within_s):
        try:
            if profiler.session is not None:
                with unheard.aside():
                    profiler.session = None
                profiler.dropped = reason
        finally:
            profiler.lock.release()
        hurry()
    else:
        hurry(reason)


def hurry(reason: str = "") -> None:
    """Let the window's own thread end it now, keeping nothing where there is a reason; waits for nothing."""
    profiler.dropped = profiler.dropped or reason
    if profiler.alarm.locked():
        profiler.alarm.release()


def _before_fork() -> None:
    """Keep nothing under way: a child would go on recording. The lock is held until the fork is done."""
    core.quietly(functools.partial(drop, "the process forked", _patience()))
    profiler.forking = profiler.lock.acquire(timeout=_patience())


def _patience() -> float:
    """Return how long a fork may wait: for one that has been abandoned once only, a pool forks many times."""
    return 0.0 if profiler.dropped else FORK_WAIT_S


def _after_fork() -> None:
    if profiler.forking:
        profiler.forking = False
        profiler.lock.release()


def _forget() -> None:
    profiler.__dict__.update(Profiler().__dict__)
    unheard.forget()


core.at_end.append(functools.partial(hurry, "the run ended"))  # `threads.wait` bounds the wait
core.after_fork.append(_forget)
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork)
