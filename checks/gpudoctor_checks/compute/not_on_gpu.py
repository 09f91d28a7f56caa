"""GD620: a GPU was there, and this run did not compute on it.

What it does
    Compares the GPUs that NVML shows with those that TensorFlow had in this run, and with the work that was seen on them
    while the steps ran.

Why it matters
    TensorFlow falls back to the CPU with one line of warning. A `with tf.device("/CPU:0")` that was forgotten, or an operation
    without a GPU kernel, does it in silence; the training runs, many times slower.

How to fix
    No GPU in TensorFlow: `gpudoctor scan` says why. GPU there but idle: look for tf.device("/CPU:0") and for Python or NumPy
    in the step; tf.debugging.set_log_device_placement(True) prints where each operation runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    HIGHLY,
    Evidence,
    Finding,
    Fix,
    MachineOverTime,
    Missing,
    Settings,
    Severity,
    StepTimes,
    Trial,
    check,
    unblocks,
)
from gpudoctor_checks.recorded import known_share, on_gpu, place, weigh_run

SURE = 0.85
SURE_WITHOUT = 0.95  # policy: two lists, TensorFlow's own and NVML's; no share is weighed
UNUSED = 0.02  # policy: NVML counts in steps of a percent, and a desktop draws
FEWEST = 20


@check(
    code="GD620",
    slug="not-on-gpu",
    title="The run did not compute on the GPU",
    family="compute",
    cause="cpu-placement",
    core=False,
)
def elsewhere(
    machine: MachineOverTime, settings: Settings, steps: StepTimes, baseline: Trial | None
) -> Iterator[Finding]:
    """Tell a TensorFlow without GPU from a GPU without work."""
    if not machine.gpus or steps.steps < FEWEST:
        return
    busy = [each.busy_share for each in machine.held(settings)]
    busiest = max((each for each in busy if not isinstance(each, Missing)), default=None)
    without = settings.get("gpus") is not None and not on_gpu(settings)
    idle = on_gpu(settings) and busiest is not None and busiest < UNUSED and known_share(steps.shares.input) < HIGHLY
    if not without and not idle:
        return
    weight = weigh_run(SURE_WITHOUT if without else SURE, baseline)
    words = (
        f"TensorFlow used none of the {len(machine.gpus)} GPU(s) here."
        if without
        else "TensorFlow has a GPU, but it stood idle."
    )
    yield Finding(
        summary=words,
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="GPUs of TensorFlow", value=int(settings.number("gpus")), source="settings in force"),
            Evidence(label="GPUs here", value=len(machine.gpus), source="NVML"),
            *(
                [Evidence(label="busiest GPU", value=round(busiest, 3), unit="share", source="NVML")]
                if busiest is not None
                else []
            ),
        ),
        location=place(steps.file, steps.line),
        fixes=(_fix(without=without),),
        share=1.0
        if without
        else known_share(steps.shares.compute),  # without a GPU nothing of the run is where it belongs
    )


def _fix(*, without: bool) -> Fix:
    return Fix(
        id="find-why-no-gpu" if without else "find-cpu-placement",
        title="See why TensorFlow has no GPU" if without else "See where each operation runs",
        action="command" if without else "diff",
        text="gpudoctor scan" if without else "+ tf.debugging.set_log_device_placement(True)  # first line",
        gain=unblocks("nothing runs on the GPU before"),
    )
