"""What profiler windows show of their steps: XProf's own input share, and the device's part where there is a device plane.

Device work outranks waiting for input: at a moment when the device computes, nothing is starved. A sum of fetch times over step
times is equal to it only where nothing overlaps. Without a GPU the executor's threads are the device: with
`steps_per_execution` > 1 the next fetch runs beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.session import Session
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.record import read_trace
from gpudoctor.profile.seen_pipeline import seen_pipeline
from gpudoctor.profile.spans import Span, common, length, merged
from gpudoctor.profile.xplane import Plane, planes

MARKERS = frozenset({"train", "gpudoctor_step"})  # XProf's step marker, as Keras and the TensorFlow guide name it
PART = "gpudoctor_part"  # a call of TensorFlow's beside that of the step
# Python's calls of operations outside of graphs, as TensorFlow itself notes them (measured: 2.15, 2.16, 2.21)
CALLS = frozenset({"EagerExecute", "TFE_Py_FastPathExecute_C", "TFE_Py_ExecuteCancelable", "convert_to_tensor"})
FETCHES = ("IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync")  # <op>Op::DoCompute in host planes
DEVICE = "/device:GPU"
WORK = "ExecutorState::Process"  # an operation under way in an executor's thread; asynchronous ones return at once
PIPELINE_THREADS = ("tf_data_",)  # tf.data's own executors: their work is the input's
SCAN = re.compile(r"ReduceIterator::Root(::\w+)*::Scan(?P<input>::\w+)?")  # `for batch in dataset` in a tf.function
FEWEST_FETCHES = 4  # three whole steps


def window_shares(path: Path, session: Session) -> tuple[WindowShare, ...]:
    """Return what each window of a session file shows; those that cannot be read are left out."""
    found: list[WindowShare] = []
    without_model = {(each.process, each.label) for each in session.iterators if each.unknown}
    for each in session.windows:
        data = read_trace(path, each.process, each.window) if each.status == "ok" else None
        share = window_share(data) if data else None
        if share is not None and data and (each.process, each.label) in without_model:
            seen = seen_pipeline(data, process=each.process, label=each.label, at=each.started_at)
            share = replace(share, pipeline=seen)
        if share is not None:
            found.append(share)
    return tuple(found)


def window_share(data: bytes) -> WindowShare | None:
    """Return what one trace shows; None without steps, or where it is no trace."""
    try:
        seen = list(planes(data, _kind))
    except ValueError:
        return None
    steps, count = _steps(seen)
    total = length(steps)
    if not count or total <= 0:
        return None
    device = _device(seen)
    at_work = merged(_of(seen, "work") if device is None else device)
    waits = _waits(seen)
    fetched: Maybe[float] = Missing("nothing is fetched from tf.data in the window")
    starved = common(waits, steps)
    waiting = length(starved) - length(common(starved, at_work))
    share: Maybe[float] = Missing("no device plane") if device is None else length(common(at_work, steps)) / total
    return WindowShare(
        steps=count,
        step_s=total / count,
        input_share=max(0.0, waiting / total) if waits else fetched,
        device_plane=device is not None,
        device_share=share,
        outside_share=_outside(seen),
    )


def _outside(seen: Sequence[Plane]) -> Maybe[float]:
    """Return the share of the time, from the first marked call to the last, in which Python is in no call of TensorFlow's."""
    starts = sorted(start for start, _ in _of(seen, "marker"))
    if len(starts) < FEWEST_FETCHES:
        return Missing("no call is marked in the window")
    whole = [(starts[0], starts[-1])]
    inside = merged([*_of(seen, "marker"), *_of(seen, "part"), *_of(seen, "call")])
    return 1 - length(common(inside, whole)) / length(whole)


def _steps(seen: Sequence[Plane]) -> tuple[list[Span], int]:
    """Return the time of whole steps and how many: marked ones, else from one fetch (or scanned step) to the next.

    A marked step that fetches nothing is a call; its batch is made before it, so there it lasts from one call to the next.
    """
    markers = _of(seen, "marker")
    fetches = _of(seen, "fetch") or _of(seen, "scan")
    if markers and (fetches or len(markers) < FEWEST_FETCHES) and not _between(markers, fetches):
        return merged(markers), len(markers)
    starts = sorted(start for start, _ in markers or fetches)
    if len(starts) < FEWEST_FETCHES:
        return [], 0
    return [(starts[0], starts[-1])], len(starts) - 1


def _between(markers: Sequence[Span], fetches: Sequence[Span]) -> bool:
    """Return whether most of the fetching lies between marked steps: the loop fetches by itself, and its step is a call."""
    starts = sorted(start for start, _ in markers)
    during = common(merged(fetches), [(starts[0], starts[-1])])
    inside = common(during, merged(markers))
    return len(markers) >= FEWEST_FETCHES and length(during) > 2 * length(inside)


def _waits(seen: Sequence[Plane]) -> list[Span]:
    return merged(_of(seen, "fetch") or _of(seen, "scan input"))


def _of(seen: Sequence[Plane], kind: str) -> list[Span]:
    return [span for plane in seen for span in plane.events.get(kind, ())]


def _kind(plane: str, line: str, name: str) -> str:
    """Return what an event is, "" for nothing that counts here."""
    if plane.startswith(DEVICE):
        return "device"
    if name in MARKERS:
        return "marker"
    if name == PART:
        return "part"
    if name in CALLS:
        return "call"
    if _is_fetch(name):
        return "fetch"
    if name == WORK and not line.startswith(PIPELINE_THREADS):
        return "work"
    scan = SCAN.fullmatch(name)
    return "" if scan is None else "scan input" if scan["input"] else "scan"


def _is_fetch(name: str) -> bool:
    head = name.partition("::")[0]
    return head.endswith("Op") and head[:-2] in FETCHES and name.endswith("DoCompute")


def _device(seen: Sequence[Plane]) -> list[Span] | None:
    """Return all spans of GPU planes; None where there is no such plane, or an empty one: its counters are closed."""
    return _of(seen, "device") or None
