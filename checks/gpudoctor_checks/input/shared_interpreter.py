"""GD515: Python of the input and the steps of this run take turns at one interpreter.

What it does
    Adds up what should run at the same time in a step, TensorFlow's part, the loop's own Python and the Python of the input's
    slowest stage, and takes off the processor time that the command really used, and the GPU's work. What is left waited for
    a turn: as much of it counts as that stage's Python can have caused, which is as long as it worked itself.

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
    Finding,
    HotLines,
    Inconclusive,
    MachineOverTime,
    Missing,
    Pipeline,
    Severity,
    StepTimes,
    Trial,
    check,
)
from gpudoctor_checks.batch_first import batch_first, calls_of
from gpudoctor_checks.pipeline_diffs import function_of
from gpudoctor_checks.pipeline_fixes import WORKERS, faster_input, pipeline_fixes
from gpudoctor_checks.recorded import at, hottest_lines, percent, place, weigh_run
from gpudoctor_checks.turns import HOLD, held_share, waiting_for_a_turn

SURE = 0.75  # policy: told from sums of processor time, not from a trace of the lock
MOSTLY = 0.5  # policy: Python that works for less than half of each step is a note
CHANGES = ("tf_ops", "cache", *WORKERS)  # that leave less Python beside the steps


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
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Judge runs that hardly wait for data, whose input works in Python all the same."""
    slowest = pipeline.slowest
    held = held_share(steps, pipeline, hot_lines)
    if slowest is None or held < HIGHLY or steps.input_class == "highly":
        return
    waits = waiting_for_a_turn(steps, held, hot_lines, machine)
    if isinstance(waits, Missing):
        raise Inconclusive(waits.reason)
    if waits < HIGHLY:
        return
    lines = hot_lines.hottest("pipeline", *HOLD)
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
            *percent("Python of the input", held, "tf.data's model, sampled stacks"),
            *hottest_lines(lines),
        ),
        location=place(lines[0].file, lines[0].line, lines[0].snippet),
        fixes=(*once, *pipeline_fixes(pipeline, *CHANGES))
        or (faster_input(waits, "GD515", "no thread waits for a turn any more"),),
        share=waits,
    )
