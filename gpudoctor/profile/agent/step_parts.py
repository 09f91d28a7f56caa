"""The parts of a training step that a loop of the user's own calls: traced functions, taped work, gradients and updates.

One call in the user's code is one part. It trains where it is a function in whose tracing a gradient was taken or an update made,
or a gradient or update outside of all functions; each such call is counted as a step, and the report takes the part that was called
least often (several gradients may belong to one update). The border of the user's own `for` would be truer; nothing can be hooked
there. A step whose batch was fetched from tf.data is counted where it is fetched: here only those count that come without.
"""

from __future__ import annotations

import _thread
import time
from typing import Any

from . import core, places, tables

FUNCTION, TAPE, GRADIENT, UPDATE = "function", "tape", "gradient", "update"
# Policy: a fetch belongs to the calls behind it, up to so many (slices of one batch, several updates of one of two networks); one
# in longer runs of calls is the fetch of an evaluation between them.
FED_FOR = 10
MOST_PARTS = 500


class Part:
    """What one place calls. `own`: Keras does not stand around it; `rows`: what counts it, for each thread."""

    __slots__ = (
        "calls",
        "code",
        "fed",
        "holds",
        "inside",
        "kind",
        "number",
        "own",
        "rows",
        "seen",
        "streak",
        "told",
        "unfed",
    )

    def __init__(self, kind: str, code: Any, *, own: bool) -> None:
        self.kind, self.own, self.code = kind, own, code  # the code lives as long: its number stands for it
        self.number = self.calls = self.fed = self.seen = self.streak = self.told = 0
        self.inside = 0.0
        self.holds = ""
        self.unfed = True
        self.rows: dict[int, tuple[Any, float]] = {}


class Parts:
    """All parts of this process, and how long each thread has been inside of them."""

    def __init__(self) -> None:
        self.by_place: dict[Any, Part] = {}
        self.inside: dict[int, float] = {}
        self.fetches = 0


parts = Parts()


def fetched() -> None:
    """Note that the user's own loop has fetched a batch from tf.data."""
    parts.fetches += 1


def called(frame: Any, kind: str, name: str, holds: str, seconds: float) -> Part | None:
    """Note a call that has ended, made below this frame; return its part, None where no line of the user's is above."""
    keras = False
    while frame is not None:
        whose = places.kind_of(frame.f_code.co_filename)
        if whose == places.USER:
            break
        keras = keras or (whose == places.KERAS and frame.f_code.co_name in places.LABELS)
        frame = frame.f_back
    if frame is None:
        return None
    # a code's own hash goes through all of its bytes (measured: 3 us for 60 lines)
    key = (id(frame.f_code), frame.f_lasti, kind, keras)
    part = parts.by_place.get(key)
    if part is None:
        part = _new(key, frame, name)
    if part is None or not part.own:
        return part
    thread = _thread.get_ident()
    part.calls += 1
    part.inside += seconds if part.calls > 1 else 0.0  # the first call traces
    inside = parts.inside[thread] = parts.inside.get(thread, 0.0) + seconds
    if kind in (GRADIENT, UPDATE) or holds:
        part.holds = holds
        _fed(part)
        if part.unfed:
            _count(part, frame, inside, thread)
    return part


def _new(key: Any, frame: Any, name: str) -> Part | None:
    if len(parts.by_place) >= MOST_PARTS or not tables.tensorflow_module("eager.context").executing_eagerly():
        return None  # a call while something else is traced is none
    kind, keras = key[2:]
    part = parts.by_place[key] = Part(kind, frame.f_code, own=not keras and not _below_keras(frame))
    part.number = len(parts.by_place)
    if part.own:
        file, line, function, _ = places.above(frame)
        core.emit("step_parts", part=part.number, kind=kind, name=name, file=file, line=line, function=function)
        core.ensure_beating()
    return part


def _below_keras(frame: Any) -> bool:
    """Return whether one of Keras's own loops runs this: a `train_step` of the user's, a callback."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in places.LABELS and places.kind_of(code.co_filename) == places.KERAS:
            return True
        frame = frame.f_back
    return False


def _fed(part: Part) -> None:
    """Tell whether tf.data feeds the steps of this part."""
    if part.seen != parts.fetches:
        part.seen = parts.fetches
        part.fed += 1
        part.unfed = part.unfed and part.streak >= FED_FOR
        part.streak = 0
    else:
        part.streak += 1
        part.unfed = part.unfed or part.streak >= FED_FOR


def _count(part: Part, frame: Any, inside: float, thread: int) -> None:
    known = part.rows.get(thread)
    if known is None:
        file, line, function, _ = places.above(frame)
        place = {"file": file, "line": line, "function": function, "graph": f"part {part.number}"}
        loop = tables.new_loop(in_graph=False, label="loop", kind=part.kind, **place)
        if loop is None:
            return
        loop.wait = None
        known = part.rows[thread] = loop, inside  # the first call, which traces, is over before the row begins
    loop, before = known
    loop.count += 1
    loop.inside = inside - before
    loop.ends = (loop.ends or 0.0) + time.time() - loop.made_at


def _tell() -> None:
    for part in list(parts.by_place.values()):
        if part.calls != part.told:
            part.told = part.calls
            core.emit(
                "step_parts",
                part=part.number,
                kind=part.kind,
                calls=part.calls,
                fed=part.fed,
                inside_s=part.inside,
                holds=part.holds,
            )


core.every_beat.append(_tell)
core.after_fork.append(lambda: parts.__dict__.update(Parts().__dict__))
