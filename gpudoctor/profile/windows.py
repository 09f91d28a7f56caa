"""What profiler windows show of their steps: XProf's own input share, and the device's part where there is a device plane.

Device work outranks waiting for input: at a moment when the device computes, nothing is starved. A sum of fetch times over step
times is equal to it only where nothing overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.session import Session
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.record import read_trace
from gpudoctor.profile.xplane import Plane, Span, planes

MARKERS = frozenset({"train", "gpudoctor_step"})  # XProf's step marker, as Keras and the TensorFlow guide name it
FETCHES = ("IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync")  # <op>Op::DoCompute in host planes
DEVICE = "/device:GPU"


def window_shares(path: Path, session: Session) -> tuple[WindowShare, ...]:
    """Return what each window of a session file shows; those that cannot be read are left out."""
    found: list[WindowShare] = []
    for each in session.windows:
        data = read_trace(path, each.process, each.window) if each.status == "ok" else None
        share = window_share(data) if data else None
        if share is not None:
            found.append(share)
    return tuple(found)


def window_share(data: bytes) -> WindowShare | None:
    """Return what one trace shows; None without a step marker, or where it is no trace."""
    try:
        seen = list(planes(data, _wanted))
    except ValueError:
        return None
    markers = [span for plane in seen for name, spans in plane.events.items() if name in MARKERS for span in spans]
    steps = merged(markers)
    total = _length(steps)
    if not markers or total <= 0:
        return None
    fetches = merged(
        [span for plane in seen for name, spans in plane.events.items() if _is_fetch(name) for span in spans]
    )
    device = _device(seen)
    at_work = merged(device or [])
    starved = common(fetches, steps)
    waiting = _length(starved) - _length(common(starved, at_work))
    share: Maybe[float] = Missing("no device plane") if device is None else _length(common(at_work, steps)) / total
    return WindowShare(
        steps=len(markers),
        step_s=total / len(markers),
        input_share=max(0.0, waiting / total),
        device_plane=device is not None,
        device_share=share,
    )


def _wanted(plane: str, name: str) -> bool:
    return plane.startswith(DEVICE) or name in MARKERS or _is_fetch(name)


def _is_fetch(name: str) -> bool:
    head = name.partition("::")[0]
    return head.endswith("Op") and head[:-2] in FETCHES and name.endswith("DoCompute")


def _device(seen: Sequence[Plane]) -> list[Span] | None:
    """Return all spans of GPU planes; None where there is no such plane, or an empty one: its counters are closed."""
    spans = [span for plane in seen if plane.name.startswith(DEVICE) for each in plane.events.values() for span in each]
    return spans or None


def merged(spans: Sequence[Span]) -> list[Span]:
    """Return the spans without overlaps, in order."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def common(first: Sequence[Span], second: Sequence[Span]) -> list[Span]:
    """Return where two lists of merged spans overlap."""
    result: list[Span] = []
    at = other = 0
    while at < len(first) and other < len(second):
        start, end = max(first[at][0], second[other][0]), min(first[at][1], second[other][1])
        if start < end:
            result.append((start, end))
        if first[at][1] < second[other][1]:
            at += 1
        else:
            other += 1
    return result


def _length(spans: Sequence[Span]) -> float:
    return sum(end - start for start, end in spans)
