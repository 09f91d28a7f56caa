"""The user's own Python in a step of a loop whose batches do not come from tf.data: the time between TensorFlow's calls.

Samples of stacks alone would do, within some points. The time stamps of the calls are exact, but what lies between may be
TensorFlow's, too: an operation outside of all that is hooked, a wait for the device. So the stamps' figure stands where the samples
or a profiler window say the same, and the samples' figure where neither does.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.run import UNFETCHED, StepPart
from gpudoctor.model.session import Session
from gpudoctor.profile.steps import ASIDE, Loop, Stretch, overlap

WHOLE_CALLS = frozenset({"fit", "evaluate", "predict"})
SAME = 0.10  # measured: two honest methods differ by up to 8 points at 20 ms steps


def outside(stretches: Sequence[Stretch]) -> Maybe[float]:
    """Return the share of the time that lies between the calls."""
    span = sum(each.span_s for each in stretches)
    return max(0.0, 1 - sum(each.inside_s for each in stretches) / span) if span > 0 else Missing("no step")


def in_keras(session: Session, loop: Loop) -> float:
    """Return the share of a loop of `train_on_batch` that its own calls of fit, evaluate and predict take."""
    if loop.record.kind != "call" or loop.steady_s <= 0:
        return 0.0
    calls = [
        (each.started_at, each.ended_at)
        for each in session.phases
        if each.process == loop.record.process and each.kind in WHOLE_CALLS and isinstance(each.ended_at, float)
    ]
    return min(1.0, sum(overlap(calls, each.start, each.end) for each in loop.steady) / loop.steady_s)


def host_share(session: Session, loop: Loop, sampled: float, *, seen: bool, device: Maybe[float]) -> float:
    """Return the share of the user's own Python. `device`: what a GPU works at is no Python.

    `seen`: stacks were sampled, and no window has shown that what lies between the calls is outside of TensorFlow.
    """
    share = _own_python(session, loop, sampled, seen=seen)
    return share if isinstance(device, Missing) else min(share, max(0.0, 1 - device))


def _own_python(session: Session, loop: Loop, sampled: float, *, seen: bool) -> float:
    between = outside(loop.steady)
    if loop.record.kind not in UNFETCHED or isinstance(between, Missing):
        return sampled
    if loop.record.kind == "call":
        return max(sampled, between - in_keras(session, loop))
    return min(between, sampled) if seen and between - sampled > SAME else between


def step_parts(session: Session, loop: Loop) -> tuple[StepPart, ...]:
    """Return the parts of the loop's steps that are called outside of all graphs, those first that take longest."""
    if loop.record.label != "loop":
        return ()
    rows = [each for each in session.step_parts if each.process == loop.record.process]
    often = [each for each in rows if each.calls >= max(1.0, ASIDE * loop.steps)]
    found = [
        StepPart(
            kind=each.kind,
            name=each.name,
            file=each.file,
            line=each.line,
            holds=tuple(each.holds.split()),
            per_step=each.calls / max(1, loop.steps),
            share=min(1.0, each.inside_s / loop.total_s) if loop.total_s > 0 else 0.0,
        )
        for each in often
    ]
    return tuple(sorted(found, key=lambda each: -each.share))
