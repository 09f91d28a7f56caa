"""Stacks of all Python threads, in short bursts: which of the user's lines holds the loop or the pipeline.

With CPython's usual switch interval of 5 ms a sampling thread gets its turn only when the code it looks at stands still:
whatever runs for less is never seen, and its time falls on the next TensorFlow call (measured: 0 of 70 samples on a hot
NumPy line). So the interval is lowered while a burst lasts, and bursts are short, for this costs 3 % of a fast step
(measured). A sample weighs the time since the last one: C code that holds the interpreter starves the sampler, and counts
would hide it. The pauses between samples are uneven: at steps of 5 ms, even ones of 10 saw the same moment of each step (told
23 % of the user's Python where it was 40).
"""

from __future__ import annotations

import _thread
import sys
import time
from typing import Any, Tuple

from . import activities, core, phases, places, tables, threads

BURST_S, FIRST_BURST_S = 0.5, 0.25
FIRST_BURSTS, FIRST_EVERY_S = 12, 1.0  # a run of ten seconds is seen too; a quarter of the time costs 0.9 % at 2.6 ms
EVERY_S = 5.0  # a burst's 3.4 % at 2.6 ms steps (measured), a tenth of the time
SAMPLE_S = 0.010  # on the mean; each pause is 0.5 to 1.5 of it
GOLDEN = 0.6180339887  # n*n of it modulo 1: even between 0 and 1, and their sum strays as that of random pauses does
# Shows stretches of half a millisecond and less: of 0.47 ms of plain Python a step, beside a call that lets go of the
# interpreter for 5 us, 16 % of the time was told at 0.5 ms (9 % for the call), 35 at 0.1 and 32 at 0.03 (1 % for the call).
SWITCH_S = 0.00005
ROUNDED_S = 1e-9  # an interval is cut off to microseconds: 0.0001 reads as 0.00009999999999999999, and would become 99
MOST_LINES = 3000
MANY_CALLS = 10  # policy, as in GD614: a cross-validation calls fit five or ten times
LEAST_PATIENCE_S, MOST_PATIENCE_S, LOOK_S = 0.3, 60.0, 0.1  # policy: steps that come later belong to another loop

Key = Tuple[str, str, int, str, str, str]  # role, file, line, function, activity, leaf


class Sums:
    """Seconds and samples of each line; `told` is what the session has."""

    def __init__(self) -> None:
        self.lines: dict[Key, list[float]] = {}
        self.started = False
        self.pauses = 0
        self.lowered = 0.0
        self.interval = 0.0  # the user's own, while a burst has lowered it
        self.steps, self.at = 0, time.perf_counter()  # as the last burst ended behind which steps had run
        self.step_s = 0.0


sums = Sums()
current_frames = sys._current_frames  # pyright: ignore[reportPrivateUsage]  # the one way to all stacks


def begin() -> None:
    """Start the thread, once."""
    if sums.started or core.process.off:
        return
    sums.started = True
    threads.start(_bursts)


def _bursts() -> None:
    done, pause = 0, 0.5
    while not threads.stopped(pause) and not core.process.off:
        if _moves():
            early = done < FIRST_BURSTS
            burst(FIRST_BURST_S if early else BURST_S)
            done, pause = done + 1, FIRST_EVERY_S - FIRST_BURST_S if early else EVERY_S - BURST_S
        else:
            pause = 0.5


def _moves() -> bool:
    """Return whether any step has run: what comes before is start-up."""
    return any(each.count for each in tables.tables.loops)


def burst(length: float) -> None:
    """Sample for this long. What belongs to no step is left out: tracing, validation, Python behind or between the loops.

    Where Keras says that a fit is under way, all counts; elsewhere a loop of the user's own is known by its steps alone, so
    what was seen there counts only where they go on.
    """
    own, interval = _thread.get_ident(), sys.getswitchinterval()
    seen, aside = Seen(), Seen()
    begun, at, before = time.perf_counter(), time.time(), -1
    latest = begun + 4 * length
    last = begun
    sums.interval = interval
    if interval > SWITCH_S:
        sys.setswitchinterval(SWITCH_S)
    sums.lowered = sys.getswitchinterval()  # not what was set: it is kept in whole microseconds
    try:
        while seen.length + aside.length < length and last < latest and not core.process.off:
            if threads.stopped(pause_s()):
                break
            now = time.perf_counter()
            if not core.process.tracing and not phases.inside("validation"):
                keras = bool(phases.under_way())
                if keras and before >= 0:
                    seen.join(aside if _steps() > before or _around_calls() else Seen())
                    aside, before = Seen(), -1
                elif not keras and before < 0:
                    before = _steps()
                (seen if keras else aside).take(own, now - last)
            last = now
    finally:
        _restore()
    if before >= 0 and (_steps() > before or _goes_on()):
        seen.join(aside)
    _note_pace()
    seen.count_in()
    core.emit("bursts", at=at, duration_s=seen.length, samples=seen.samples, switch_interval_s=min(interval, SWITCH_S))


class Seen:
    """What samples of one burst saw: seconds and samples of each line, and of all together."""

    def __init__(self) -> None:
        self.lines: dict[Key, list[float]] = {}
        self.length, self.samples = 0.0, 0

    def take(self, own: int, seconds: float) -> None:
        """Look at all threads but our own; the sample stands for so many seconds."""
        for ident, frame in current_frames().items():
            key = _key(frame, loops=ident in tables.tables.threads) if ident != own else None
            if key is not None:
                self._add(key, seconds, 1)
        self.length, self.samples = self.length + seconds, self.samples + 1

    def join(self, other: Seen) -> None:
        """Take in what another one holds."""
        for key, (seconds, samples) in other.lines.items():
            self._add(key, seconds, samples)
        self.length, self.samples = self.length + other.length, self.samples + other.samples

    def _add(self, key: Key, seconds: float, samples: float) -> None:
        line = self.lines.setdefault(key, [0.0, 0])
        line[0] += seconds
        line[1] += samples

    def count_in(self) -> None:
        """Add it to the sums of the run."""
        for key, (seconds, samples) in self.lines.items():
            line = sums.lines.get(key)
            if line is None:
                if len(sums.lines) >= MOST_LINES:
                    continue
                line = sums.lines[key] = [0.0, 0, 0]
            line[0] += seconds
            line[1] += samples


def _steps() -> int:
    """Return how many steps all loops have run; those in graphs are read anew."""
    core.quietly(tables.tell)
    return sum(each.count for each in list(tables.tables.loops))


def _around_calls() -> bool:
    """Return whether Keras's own calls are so many that they are steps of a loop: what lies between them is the loop's."""
    return phases.phases.calls >= MANY_CALLS


def _note_pace() -> int:
    """Return how many steps have run; where some have since the last time, keep how long one took."""
    steps, now = _steps(), time.perf_counter()
    if steps > sums.steps:
        sums.step_s = (now - sums.at) / (steps - sums.steps)
        sums.steps, sums.at = steps, now
    return steps


def _goes_on() -> bool:
    """Return whether a loop of the user's own runs another step within twice the time that its steps have taken of late."""
    steps = _note_pace()
    until = time.perf_counter() + min(MOST_PATIENCE_S, max(LEAST_PATIENCE_S, 2 * sums.step_s))
    while time.perf_counter() < until:
        if threads.stopped(LOOK_S) or phases.under_way():
            return _around_calls()
        if _steps() > steps:
            return True
    return False


def _restore() -> None:
    """Give the user's interval back; their own change of it stays."""
    if sums.lowered and sys.getswitchinterval() == sums.lowered:
        sys.setswitchinterval(sums.interval + ROUNDED_S)
    sums.lowered = 0.0


def _begin_anew() -> None:
    """Begin in a forked child, which has the burst's interval but not its thread."""
    _restore()
    sums.__dict__.update(Sums().__dict__)


def pause_s() -> float:
    """Return how long to wait for the next sample; the user's own random numbers are not touched for it."""
    sums.pauses += 1
    return SAMPLE_S * (0.5 + sums.pauses * sums.pauses * GOLDEN % 1.0)


def _key(frame: Any, *, loops: bool) -> Key | None:
    """Return role, the user's innermost line, and what it is doing; None for threads without a line of the user's.

    `loops`: the thread runs a loop. It need not be the one of the script, which may wait for it all the time.
    """
    leaf, user, callback = frame, None, ""
    role = "other"
    while frame is not None:
        code = frame.f_code
        if user is None:
            if places.kind_of(code.co_filename) == places.USER:
                user = frame
        else:
            callback = activities.callback_of(code) or callback
        role = activities.role_of(code) or role
        frame = frame.f_back
    if user is None:
        return None
    if role != "pipeline":
        role = "main" if loops else "other"
    code = user.f_code
    activity, inside = activities.of(leaf, user)
    name = code.co_name  # what a callback's method has called is the callback's: it goes with it
    name = name if callback in {"", name} else f"{callback} > {name}"
    return role, places.absolute(code.co_filename), user.f_lineno, name, activity, inside


def _tell() -> None:
    for (role, file, line, function, activity, leaf), sum_ in list(sums.lines.items()):
        if sum_[1] != sum_[2]:
            sum_[2] = sum_[1]
            core.emit(
                "stack_lines",
                role=role,
                file=file,
                line=line,
                function=function,
                activity=activity,
                leaf=leaf,
                weight_s=sum_[0],
                samples=int(sum_[1]),
            )


core.on_start.append(begin)
core.every_beat.append(_tell)
core.after_fork.append(_begin_anew)
