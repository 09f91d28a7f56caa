"""GD515: Python of the input and the steps of this run take turns at one interpreter.

What it does
    Adds up what should run at the same time in a step, TensorFlow's part, the loop's own Python and the Python of the input's
    slowest stage, and takes off the processor time that the command really used, and the GPU's work. What is left waited for
    a turn. It counts as much of it as that stage's Python can have caused: as long as it ran itself.

Why it matters
    CPython runs one thread at a time. A generator, a PyDataset or a py_function that works beside the steps holds them up each
    time that a call of TensorFlow's returns, and is held up by them. No wait for data is seen: the batch is there, and the
    step still lasts several times as long as alone. A faster GPU changes nothing.

How to fix
    Write what the input does with tf.* ops, which need no interpreter; or do it once and store the result; or let processes
    do it (a PyDataset's use_multiprocessing). NumPy on whole batches lets go of the interpreter, loops over numbers do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    HIGHLY,
    Evidence,
    Finding,
    Fix,
    HotLines,
    Inconclusive,
    MachineOverTime,
    Missing,
    Pipeline,
    Settings,
    Severity,
    StepTimes,
    Trial,
    check,
)
from gpudoctor_checks.batch_first import batch_first, calls_of
from gpudoctor_checks.pipeline_diffs import function_of
from gpudoctor_checks.pipeline_fixes import pipeline_fixes
from gpudoctor_checks.recorded import at, bound, hottest_lines, known_share, on_gpu, percent, place, weigh_run

SURE = 0.75  # policy: told from sums of processor time, not from a trace of the lock
MOSTLY = 0.5  # policy, as in GD511: what takes less than half of the time is not what makes it
WORK, REST = ("numpy", "python", "tensorflow", "other"), ("wait", "io")  # activities of sampled lines


@check(
    code="GD515",
    slug="shared-interpreter",
    title="Input and steps share one interpreter",
    family="input",
    cause="numpy-hot-loop",
    core=False,
)
def sharing(
    steps: StepTimes,
    pipeline: Pipeline,
    hot_lines: HotLines,
    machine: MachineOverTime,
    settings: Settings | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Judge runs that hardly wait for data, whose input works in Python all the same."""
    slowest = pipeline.slowest
    if steps.input_class == "highly" or slowest is None or not slowest.python or isinstance(steps.step_s, Missing):
        return
    if hot_lines.total("pipeline", *WORK) <= hot_lines.total("pipeline", *REST):
        return
    held = min(1.0, slowest.batch_s / steps.step_s)
    waits = min(held, _waits(steps, machine, held, gpu=on_gpu(settings)))
    if waits < HIGHLY:
        return
    lines = hot_lines.hottest("pipeline", *WORK)
    calls = calls_of(pipeline, hot_lines, steps)
    once = batch_first(slowest, calls, steps) if calls is not None and calls.dear else ()
    weight = weigh_run(SURE, baseline, steps if steps.methods else None)
    yield Finding(
        summary=f"Python of {function_of(slowest)} and the steps take turns at one interpreter: {at(lines[0].file, lines[0].line)}.",
        severity=Severity.WARNING if held >= MOSTLY else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("waiting for a turn", waits, "processor time against threads at work"),
            Evidence(
                label="the input's Python", value=round(held, 3), unit="share of a step", source="tf.data's model"
            ),
            *hottest_lines(lines),
        ),
        location=place(lines[0].file, lines[0].line, lines[0].snippet),
        fixes=(*once, *pipeline_fixes(pipeline)) or (_faster(waits),),
        share=waits,
    )


def _waits(steps: StepTimes, machine: MachineOverTime, held: float, *, gpu: bool) -> float:
    """Return the share of a step in which a thread that had work did none. Raises Inconclusive.

    Cores that others took are no wait for the interpreter: no more can be at work than were left.
    """
    if isinstance(machine.cores_used, Missing):
        raise Inconclusive(f"the processor time is unknown: {machine.cores_used.reason}")
    device = steps.shares.device
    if gpu and isinstance(device, Missing):
        raise Inconclusive(f"how long the GPU works in a step is unknown: {device.reason}")
    wanted = known_share(steps.shares.compute) + known_share(steps.shares.host) + held
    free = wanted if isinstance(machine.free_cores, Missing) else machine.free_cores
    return min(wanted, free) - machine.cores_used - known_share(device)


def _faster(waits: float) -> Fix:
    return Fix(
        id="faster-input",
        title="Make the input faster, or do it beforehand",
        action="manual",
        text="# what it does for each batch: less of it, or once before the training\ngpudoctor explain GD515",
        gain=bound(waits, "no thread waits for a turn any more"),
        effort_minutes=60,
    )
