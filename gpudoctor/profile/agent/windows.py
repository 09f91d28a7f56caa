"""A few windows of TensorFlow's own profiler, some tenths of a second each, behind the warm-up: the second method.

Wrapping the training step would give exact borders and cost every step; a thread of ours starts and stops the session, and
the borders are read from the trace, where each fetch of a batch stands. The process has one profiler: the user's own comes
first, and ends ours at once.
"""

from __future__ import annotations

import _thread
import functools
import os
import shutil
import time
from typing import Any

from . import core, hidden, tables, threads, unheard

AT_S = (
    2.0,
    10.0,
    60.0,
)  # policy, seconds behind the first steps: early, again, and late (pipelines degrade after an epoch)
STEPS = 10  # TensorFlow's guide: no more than ten at a time
WHOLE = 4  # fetches, which make three whole steps, are the least that a window tells from
SHORTEST_S, LONGEST_S = 0.4, 4.0  # fast steps give more of them; bounds the trace (measured: 0.2-7 MB a second)
MOST_OF_RUN = 0.25  # of the time so far: what is left must show the steady steps
FEWEST_STEPS = 20  # before the first window
MOST_TRIES = 8  # where an epoch ends inside, or no step came
MOST_TRACE_BYTES = 64 << 20
FORK_WAIT_S = 1.0  # policy: starting and stopping take tens of milliseconds; a longer export is not waited for
TRAINING = ("fit", "train_on_batch", "loop")
MARKER = "gpudoctor_step"
OFF = "GPUDOCTOR_WINDOWS"
TOO_SHORT = f"the run ended before a window was due ({AT_S[0]:g} s and {FEWEST_STEPS} steps behind its first steps)"


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


NOTHING = _Nothing()


class Windows:
    """The state of this process's windows."""

    def __init__(self) -> None:
        self.lock = _thread.allocate_lock()  # holds while a session is started, stopped or dropped
        self.alarm = _thread.allocate_lock()  # released to end a window early
        self.session: Any = None
        self.open = self.forking = False
        self.done = self.tries = 0
        self.refusal = TOO_SHORT
        self.forbidden = ""
        self.dropped = ""
        self.last: dict[str, tuple[float, int]] = {}  # label -> time and count at the last beat
        self.first: dict[str, tuple[float, int]] = {}


state = Windows()


def hook(module: Any) -> None:
    """Let the user's own profiler go first: `profiler_v2`, before its functions are handed out as `tf.profiler`."""
    for name, reason in (("start", "the script profiles itself"), ("start_server", "a profiler server runs")):
        original = getattr(module, name, None)
        if callable(original):
            setattr(module, name, _first(original, reason))


def _first(original: Any, reason: str) -> Any:
    @functools.wraps(original)
    def theirs(*args: Any, **kwargs: Any) -> Any:
        core.quietly(functools.partial(_forbid, reason))
        return original(*args, **kwargs)

    return hidden.hide(theirs, original)


def _forbid(reason: str) -> None:
    state.forbidden = reason
    drop(reason, threads.MOST_S)  # TensorFlow would refuse theirs while ours is there


def drop(reason: str, within_s: float) -> None:
    """End a session under way, keeping nothing; one that is just being started or stopped for longer is abandoned.

    Called in the user's threads. An abandoned one ends as soon as its own thread can.
    """
    if not state.open:
        return
    if state.lock.acquire(timeout=within_s):
        try:
            if state.session is not None:
                with unheard.aside():
                    state.session = None
                state.dropped = reason
        finally:
            state.lock.release()
        hurry()
    else:
        hurry(reason)


def hurry(reason: str = "") -> None:
    """Let the window's own thread end it now, keeping nothing where there is a reason; waits for nothing."""
    state.dropped = state.dropped or reason
    if state.alarm.locked():
        state.alarm.release()


def step() -> Any:
    """Return a scope that marks a step for XProf; while no session runs, nothing."""
    trace = tables.loaded("profiler.trace") if state.open else None
    return NOTHING if trace is None else trace.Trace(MARKER, step_num=state.tries, _r=1)


def _observe() -> None:
    """Once a second: whether a window is due, and for how long."""
    if state.open or threads.threads.ending or state.done >= len(AT_S) or state.tries >= MOST_TRIES:
        return
    now, moved = time.time(), _moved()
    if moved is None:
        return
    label, step_s = moved
    began, count = state.first[label]
    length = min(LONGEST_S, max(SHORTEST_S, STEPS * step_s))
    if now - began < max(AT_S[state.done], length / MOST_OF_RUN) or state.last[label][1] - count < FEWEST_STEPS:
        return
    why = _unfit() or (f"a window is too short for steps of {step_s:.1f} s" if WHOLE * step_s > LONGEST_S else "")
    if why:
        state.refusal = why
    elif not _between():
        state.open = True
        state.alarm.acquire(False)
        threads.start(_record, state, label, length)


def _moved() -> tuple[str, float] | None:
    """Return the training label that made most steps since the last beat, and its step time."""
    now = time.time()
    counts: dict[str, int] = {}
    for each in list(tables.tables.loops):
        if each.label in TRAINING and each.count:
            counts[each.label] = counts.get(each.label, 0) + each.count
    rates: list[tuple[float, str]] = []
    for label, count in counts.items():
        at, before = state.last.get(label, (now, count))
        state.first.setdefault(label, (now, count))
        state.last[label] = (now, count)
        if count > before and now > at:
            rates.append(((count - before) / (now - at), label))
    return (max(rates)[1], 1 / max(rates)[0]) if rates else None


def _unfit() -> str:
    """Return why this process must not be profiled, "" where it may."""
    if os.environ.get(OFF) == "0":
        return f"switched off ({OFF}=0)"
    if state.forbidden:
        return state.forbidden
    profiler = tables.loaded("profiler.profiler_v2")
    if profiler is None or tables.loaded("profiler.internal._pywrap_profiler") is None:
        return "this TensorFlow has no profiler"
    try:
        unheard.aside()
    except (OSError, AttributeError, ValueError) as error:
        return f"what the profiler prints cannot be kept apart ({error})"
    return "the script profiles itself" if getattr(profiler, "_profiler", None) is not None else ""


def _between() -> bool:
    """Return whether Keras is between epochs or in a validation, or a function is being traced: then later."""
    phases = _phases()
    return core.process.tracing > 0 or (bool(phases) and phases[-1][1] != "epoch")


def _phases() -> list[Any]:
    from . import keras_hooks

    return list(keras_hooks.phases.open)


def _record(mine: Windows, label: str, length: float) -> None:
    """Record one window, in a thread of ours."""
    number, folder = mine.done + 1, os.path.join(core.process.spool, f"{core.process.name}.window")
    try:
        mine.tries += 1
        mine.dropped = ""
        before, steps = _phases(), _steps(label)
        if _start(mine, folder):
            began = time.time()
            mine.alarm.acquire(timeout=length)
            steps = _steps(label) - steps
            reason = mine.dropped or _why_not(before, steps, length)
            file = _stop(mine, folder, keep=not reason)
            reason = _taken(mine, number, file, reason)
            _tell(number, label, began, steps, reason)
            core.quietly(tables.tell)
    except Exception as error:
        mine.tries = MOST_TRIES
        mine.refusal = f"the profiler failed ({type(error).__name__}: {str(error)[:200]})"
        core.note_fault("windows", error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        mine.session, mine.open = None, False


def _steps(label: str) -> int:
    core.quietly(tables.tell)
    return sum(each.count for each in list(tables.tables.loops) if each.label == label)


def _start(mine: Windows, folder: str) -> bool:
    made = tables.tensorflow_module("profiler.internal._pywrap_profiler").ProfilerSession
    with mine.lock:
        if mine.forbidden or core.process.off or threads.threads.ending:
            return False
        with unheard.aside():
            session = made()
            session.start(folder, {})  # the defaults: host events of level 2, the device's
        mine.session = session
    return True


def _why_not(before: list[Any], steps: int, length: float) -> str:
    if _phases() != before:
        return "an epoch ended inside"
    return f"only {steps} steps in {length:.1f} s" if steps < WHOLE else ""


def _stop(mine: Windows, folder: str, *, keep: bool) -> str:
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


def _taken(mine: Windows, number: int, file: str, reason: str) -> str:
    """Put the trace beside the spool's files, where the wrapper takes it from; return why there is none."""
    size = os.path.getsize(file) if file else 0
    if not reason and not 0 < size <= MOST_TRACE_BYTES:
        reason = f"a trace of {size} bytes"
    if reason:
        mine.refusal = reason
    else:
        os.replace(file, os.path.join(core.process.spool, f"{core.process.name}.{number}.xplane.pb"))
        mine.done += 1
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


def _end() -> None:
    if not state.done and any(each.label in TRAINING for each in tables.tables.loops):
        core.emit("windows", window=1, status="refused", reason=state.refusal)
    if unheard.made():
        unheard.aside().pass_on()


def _before_fork() -> None:
    """Keep nothing under way: a child would go on recording. The lock is held until the fork is done."""
    core.quietly(functools.partial(drop, "the process forked", _patience()))
    state.forking = state.lock.acquire(timeout=_patience())


def _patience() -> float:
    """Return how long a fork may wait: for one that has been abandoned once only, a pool forks many times."""
    return 0.0 if state.dropped else FORK_WAIT_S


def _after_fork() -> None:
    if state.forking:
        state.forking = False
        state.lock.release()


def _forget() -> None:
    state.__dict__.update(Windows().__dict__)
    unheard.forget()


core.every_beat.append(_observe)
core.at_end.append(functools.partial(hurry, "the run ended"))  # `threads.wait` bounds the wait
core.before_end.append(_end)
core.after_fork.append(_forget)
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork)
