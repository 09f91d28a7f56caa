"""A few windows of TensorFlow's own profiler, some tenths of a second each, behind the warm-up: the second method.

Wrapping the training step would give exact borders and cost every step; a thread of ours starts and stops the session, and
the borders are read from the trace, where each fetch of a batch stands. The process has one profiler: the user's own comes
first, and ends ours at once.
"""

from __future__ import annotations

import functools
import os
import time
from typing import Any

from . import core, hidden, phases, profiler_session, tables, threads, unheard, window_recording
from .profiler_session import profiler
from .window_recording import MOST_TRIES, WHOLE, taken

AT_S = (
    2.0,
    10.0,
    60.0,
)  # policy, seconds behind the first steps: early, again, and late (pipelines degrade after an epoch)
STEPS = 10  # TensorFlow's guide: no more than ten at a time
SHORTEST_S, LONGEST_S = 0.4, 4.0  # fast steps give more of them; bounds the trace (measured: 0.2-7 MB a second)
MOST_OF_RUN = 0.25  # of the time so far: what is left must show the steady steps
FEWEST_STEPS = 20  # before the first window
TRAINING = ("fit", "train_on_batch", "loop")
OFF = "GPUDOCTOR_WINDOWS"
TOO_SHORT = f"the run ended before a window was due ({AT_S[0]:g} s and {FEWEST_STEPS} steps behind its first steps)"


class Pace:
    """When each label of a training loop was seen first and last: time and count at a beat."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[float, int]] = {}
        self.last: dict[str, tuple[float, int]] = {}


pace = Pace()


def hook(module: Any) -> None:
    """Let the user's own profiler go first: `profiler_v2`, before its functions are handed out as `tf.profiler`."""
    for name, reason in (("start", "the script profiles itself"), ("start_server", "a profiler server runs")):
        original = getattr(module, name, None)
        if callable(original):
            setattr(module, name, _first(original, reason))


def _first(original: Any, reason: str) -> Any:
    @functools.wraps(original)
    def theirs(*args: Any, **kwargs: Any) -> Any:
        core.quietly(functools.partial(profiler_session.forbid, reason))
        with hidden.unseen:
            return original(*args, **kwargs)

    return hidden.hide(theirs, original)


def _observe() -> None:
    """Once a second: whether a window is due, and for how long."""
    if profiler.open or threads.threads.ending or taken.done >= len(AT_S) or profiler.tries >= MOST_TRIES:
        return
    now, moved = time.time(), _moved()
    if moved is None:
        return
    label, step_s = moved
    began, count = pace.first[label]
    length = min(LONGEST_S, max(SHORTEST_S, STEPS * step_s))
    if now - began < max(AT_S[taken.done], length / MOST_OF_RUN) or pace.last[label][1] - count < FEWEST_STEPS:
        return
    why = _unfit() or (f"a window is too short for steps of {step_s:.1f} s" if WHOLE * step_s > LONGEST_S else "")
    if why:
        taken.refusal = why
    elif not _between():
        _open(label, length)


def _open(label: str, length: float) -> None:
    profiler.open = True
    profiler.alarm.acquire(False)
    try:
        threads.start(window_recording.record, profiler, label, length)
    except RuntimeError as error:  # no thread to be had
        profiler.open, profiler.tries, taken.refusal = False, MOST_TRIES, f"no thread for a window ({error})"


def _moved() -> tuple[str, float] | None:
    """Return the training label that made most steps since the last beat, and its step time."""
    now = time.time()
    counts = {label: count for label in TRAINING if (count := tables.steps_of(label))}
    rates: list[tuple[float, str]] = []
    for label, count in counts.items():
        at, before = pace.last.get(label, (now, count))
        pace.first.setdefault(label, (now, count))
        pace.last[label] = (now, count)
        if count > before and now > at:
            rates.append(((count - before) / (now - at), label))
    return (max(rates)[1], 1 / max(rates)[0]) if rates else None


def _unfit() -> str:
    """Return why this process must not be profiled, "" where it may."""
    if os.environ.get(OFF) == "0":
        return f"switched off ({OFF}=0)"
    if profiler.forbidden:
        return profiler.forbidden
    users = tables.loaded("profiler.profiler_v2")
    if users is None or tables.loaded("profiler.internal._pywrap_profiler") is None:
        return "this TensorFlow has no profiler"
    try:
        unheard.aside()
    except (OSError, AttributeError, ValueError) as error:
        return f"what the profiler prints cannot be kept apart ({error})"
    return "the script profiles itself" if getattr(users, "_profiler", None) is not None else ""


def _between() -> bool:
    """Return whether Keras is between epochs or in a validation, or a function is being traced: then later."""
    under_way = phases.under_way()
    return core.process.tracing > 0 or (bool(under_way) and under_way[-1][1] != "epoch")


def _end() -> None:
    if not taken.done and any(each.label in TRAINING for each in tables.tables.loops):
        core.emit("windows", window=1, status="refused", reason=taken.refusal or TOO_SHORT)
    if unheard.made():
        unheard.aside().pass_on()


core.every_beat.append(_observe)
core.before_end.append(_end)
core.after_fork.append(lambda: pace.__dict__.update(Pace().__dict__))
