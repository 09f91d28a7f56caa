"""GD602: up to which batch size a step of the reference network costs the same, whatever its size.

What it does
    Trains the reference network with growing batches, in rounds over all sizes, and computes Hockney's n_1/2: the step
    time of the smallest batch times the best throughput. That many examples of pure work take as long as a step with next
    to none. Where its 95 % interval over the rounds is too wide to say whether a batch of 128 lies below it, nothing is
    said. Results without rounds are judged by their rungs: a doubling that raises the throughput by less than the square
    root of two is nearer to "no gain" than to "free".

Why it matters
    Every step costs a fixed time that has nothing to do with the data: Python, TensorFlow's dispatch, one launch for each
    GPU kernel. A small network on a large GPU spends nearly all its time there, at 5 % utilisation, with nothing
    configured wrongly. Mixed precision or a faster GPU cannot help such a step; more work per step can.

How to fix
    Raise the batch size, up to where the throughput stops rising; check the learning rate and the validation loss then,
    since the batch size changes the training itself. Or let Keras run several steps per call:
    model.compile(..., steps_per_execution=16). Neither helps a step that already keeps the GPU busy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Inconclusive, Missing, Severity, Trial, check

USUAL_BATCH = 128  # the batch of all other trials of the probe
MEASURED = 0.3  # policy: the ladder is measured, but whether your model is as small was not seen


@check(
    code="GD602",
    slug="launch-bound",
    title="Small steps are bound by launches here",
    family="compute",
    cause="launch-bound",
    trials=("batch_ladder",),
    core=False,
)
def bound(batch_ladder: Trial) -> Iterator[Finding]:
    """Find the batch size from which a larger one stops paying."""
    if batch_ladder.status != "ok":
        raise Inconclusive(batch_ladder.reason or f"the trial is {batch_ladder.status}")
    if batch_ladder.device != "GPU":
        raise Inconclusive("the ladder ran on the CPU, where nothing is launched on a device")
    rungs = sorted(_rungs(batch_ladder))
    if len(rungs) < 2:
        raise Inconclusive("fewer than two batch sizes were measured")
    first, first_rate = next((rung for rung in rungs if rung[0] >= USUAL_BATCH), rungs[0])
    knee, rate = _half(batch_ladder.values, rungs) if "half_batch" in batch_ladder.values else _knee(rungs)
    if knee <= first:
        return
    speedup = round(rate / first_rate, 2)
    yield Finding(
        summary=f"Reference network: launch-bound up to batch {knee} ({speedup:.1f}x batch {first}).",
        severity=Severity.INFO,
        confidence=MEASURED,
        basis="measured on the reference network; your own model was not seen",
        evidence=tuple(
            Evidence(label=f"batch {size}", value=round(each), unit="examples/s", source="probe, trial batch_ladder")
            for size, each in rungs
        ),
        fixes=(
            Fix(
                id="larger-batch",
                title="Small models: more work per call",
                action="diff",
                text=f"model.compile(..., steps_per_execution=16)  # or batch_size={knee}",
                gain=Gain(
                    grade=Grade.UNPROVEN, speedup=None, basis=f"{speedup:.1f}x on the reference network, unpaired"
                ),
                risk="medium",
                effort_minutes=15,
            ),
        ),
    )


def _half(values: Mapping[str, float], rungs: list[tuple[int, float]]) -> tuple[int, float]:
    """Return the rung that reaches n_1/2, and its throughput; the usual batch must lie on one side of the interval."""
    low, high = values["half_batch_low"], values["half_batch_high"]
    if low <= USUAL_BATCH < high:
        raise Inconclusive(f"overhead ends at batch {low:.0f} to {high:.0f}: the machine was too noisy to say more")
    return next((rung for rung in rungs if rung[0] >= values["half_batch"]), rungs[-1])


def _rungs(ladder: Trial) -> Iterator[tuple[int, float]]:
    for arm in ladder.arms:
        size = arm.name.removeprefix("batch_")
        if size.isdigit() and not isinstance(arm.examples_per_s, Missing) and arm.examples_per_s > 0:
            yield int(size), arm.examples_per_s


def _knee(rungs: list[tuple[int, float]]) -> tuple[int, float]:
    """Return the last rung that was worth its step up, and its throughput."""
    knee = rungs[0]
    for (size, rate), (larger, faster) in itertools.pairwise(rungs):
        if faster / rate <= math.sqrt(larger / size):
            break
        knee = larger, faster
    return knee
