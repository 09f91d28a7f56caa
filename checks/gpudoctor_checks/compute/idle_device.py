"""GD613: in this run the work of a step was smaller than the overhead of calling it.

What it does
    Where steps wait neither for data nor for your Python, looks how much of the step the GPU worked. On a CPU it compares
    the step with what an almost empty step costs in Keras.

Why it matters
    Every step costs a fixed time, whatever its batch: Python, dispatch, one launch for each kernel. Where that is most of
    the step, a faster GPU or mixed precision changes nothing, and nothing is configured wrongly.

How to fix
    More work for each call: a larger batch (check the learning rate and the validation loss), or several steps in one call:
    model.compile(..., steps_per_execution=16). In a loop of your own: run many steps inside one tf.function.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    HIGHLY,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    HotLines,
    Inconclusive,
    Limits,
    MachineOverTime,
    Missing,
    Pipeline,
    Settings,
    Severity,
    StepTimes,
    Threshold,
    Trial,
    check,
)
from gpudoctor_checks.compute.several_steps import several_steps, source_of
from gpudoctor_checks.recorded import at, known_share, on_gpu, percent, place, weigh_run
from gpudoctor_checks.turns import takes_turns

SURE = 0.7
IDLE = Threshold(
    name="idle_share",
    default=0.5,
    unit="",
    meaning="a device that works for less than this share of a step counts as idle",
    source="NVIDIA's `gpu_time_util` flags a stretch below this use (Nsight Systems, expert rules)",
    most=1.0,
)
FEWEST = 200  # policy: fewer steps are over before overhead matters
# measured: 1.04 ms, the fastest of 7 x 1500 steps of fit on a model of one weight (TensorFlow 2.21, Keras 3.15, 2 loaded cores)
EMPTY_STEP_S = 0.001
SMALL_BATCH_BYTES = 16 * 1024  # policy: under 16 KiB a batch is a handful of examples


@check(
    code="GD613",
    slug="idle-device",
    title="Steps are smaller than their overhead",
    family="compute",
    cause="launch-bound",
    core=False,
    thresholds=(IDLE,),
)
def overhead(
    steps: StepTimes,
    settings: Settings | None,
    pipeline: Pipeline | None,
    hot_lines: HotLines | None,
    machine: MachineOverTime | None,
    limits: Limits,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Judge the GPU's part of the step; on a CPU the step against an empty one."""
    if isinstance(steps.step_s, Missing):
        raise Inconclusive(f"the step time is unknown: {steps.step_s.reason}")
    if steps.steps < FEWEST or steps.steps_per_execution > 1 or known_share(steps.shares.host) >= HIGHLY:
        return
    gpu = on_gpu(settings)
    if gpu and isinstance(steps.shares.input, Missing):
        raise Inconclusive(f"whether the steps wait for data is unknown: {steps.shares.input.reason}")
    if takes_turns(steps, pipeline, hot_lines, machine):
        return
    device = steps.shares.device
    starved = known_share(steps.shares.input) >= HIGHLY
    if gpu and (isinstance(device, Missing) or device >= limits.of(IDLE) or starved):
        return
    if not gpu and (steps.label == "loop" or steps.step_s > 2 * EMPTY_STEP_S or not _small(pipeline)):
        return
    overhead_share = 1 - device if gpu and not isinstance(device, Missing) else min(1.0, EMPTY_STEP_S / steps.step_s)
    weight = weigh_run(SURE, baseline, steps)
    yield Finding(
        summary=f"{overhead_share:.0%} of a step of {steps.step_s * 1000:.2g} ms is the overhead of calling it.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="step", value=round(steps.step_s, 6), unit="s", source="run"),
            *percent("GPU at work", device, "NVML or device plane"),
        ),
        location=place(steps.file, steps.line),
        fixes=(_fix(steps, overhead_share, source_of(steps, hot_lines)),),
        share=overhead_share,
    )


def _fix(steps: StepTimes, share: float, source: str) -> Fix:
    gain = Gain(
        grade=Grade.BOUND, speedup=round(1 / max(0.02, 1 - share), 2), basis="the overhead is paid once for many steps"
    )
    return Fix(
        id="more-work-per-call",
        title=f"Several steps in one call {at(steps.file, steps.line)}"[:46],
        action="diff",
        text=several_steps(steps, source),
        gain=gain,
    )


def _small(pipeline: Pipeline | None) -> bool:
    return pipeline is not None and bool(pipeline.stages) and 0 < pipeline.stages[0].element_bytes <= SMALL_BATCH_BYTES
