"""One profiler window, recorded in a thread of ours: the session begins, some steps run, the trace goes into the spool.

A trace in which an epoch ended or no step ran tells nothing, and is dropped.
"""

from __future__ import annotations

import os
import shutil
import time

from . import core, phases, profiler_session, tables
from .profiler_session import Profiler

WHOLE = 4  # fetches, which make three whole steps, are the least that a window tells from
MOST_TRIES = 8  # where an epoch ends inside, or no step came
MOST_TRACE_BYTES = 64 << 20


class Taken:
    """How many windows this process has, and why there are no more."""

    def __init__(self) -> None:
        self.done = 0
        self.refusal = ""


taken = Taken()


def record(mine: Profiler, label: str, length: float) -> None:
    """Record one window of that many seconds."""
    number, folder = taken.done + 1, os.path.join(core.process.spool, f"{core.process.name}.window")
    try:
        mine.tries += 1
        mine.dropped = ""
        before, steps = phases.under_way(), _steps(label)
        if profiler_session.start(mine, folder):
            began = time.time()
            mine.alarm.acquire(timeout=length)
            steps = _steps(label) - steps
            reason = mine.dropped or _why_not(before, steps, length)
            file = profiler_session.stop(mine, folder, keep=not reason)
            reason = _kept(number, file, reason)
            _tell(number, label, began, steps, reason)
            core.quietly(tables.tell)
    except Exception as error:
        mine.tries = MOST_TRIES
        taken.refusal = f"the profiler failed ({type(error).__name__}: {str(error)[:200]})"
        core.note_fault("windows", error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        mine.session, mine.open = None, False


def _steps(label: str) -> int:
    core.quietly(tables.tell)
    return tables.steps_of(label)


def _why_not(before: phases.Open, steps: int, length: float) -> str:
    if phases.under_way() != before:
        return "an epoch ended inside"
    return f"only {steps} steps in {length:.1f} s" if steps < WHOLE else ""


def _kept(number: int, file: str, reason: str) -> str:
    """Put the trace beside the spool's files, where the wrapper takes it from; return why there is none."""
    size = os.path.getsize(file) if file else 0
    if not reason and not 0 < size <= MOST_TRACE_BYTES:
        reason = f"a trace of {size} bytes"
    if reason:
        taken.refusal = reason
    else:
        os.replace(file, os.path.join(core.process.spool, f"{core.process.name}.{number}.xplane.pb"))
        taken.done += 1
    return reason


def _tell(number: int, label: str, began: float, steps: int, reason: str) -> None:
    core.emit(
        "windows",
        window=number,
        started_at=began,
        ended_at=time.time(),
        label=label,
        steps=steps,
        status="refused" if reason else "ok",
        reason=reason,
    )


core.after_fork.append(lambda: taken.__dict__.update(Taken().__dict__))
