"""GD511: the steps of this run waited for their input.

What it does
    Takes the wait of each step for its batch, measured inside the graph, in XProf's classes: from 5 % of the step
    moderately, from 20 % highly input-bound. It names the slowest stage of the tf.data graph as it really ran, your line
    that asked for it, and what each change that applies here would bring by a model of the stages. What TensorFlow did by
    itself (a prefetch, a parallel map) is not advised.

Why it matters
    While a step waits, the device idles, and no faster GPU, precision or compiler shortens it. On a GPU, execution is
    asynchronous: without a trace of the device the wait is an upper bound, and the finding says so.

How to fix
    Serial map of TensorFlow ops: num_parallel_calls=tf.data.AUTOTUNE. Python in the pipeline (py_function, numpy_function,
    from_generator) runs one thread at a time: write it with tf.* ops, or do it once and cache() or store the result. A
    generator whose items cost more than its lines: yield whole batches.
    Reading: fewer, larger files, interleave with num_parallel_calls. The bound shows what a perfect pipeline would bring.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    HotLines,
    Inconclusive,
    Missing,
    Pipeline,
    Severity,
    StepTimes,
    Trial,
    check,
)
from gpudoctor_checks.batch_first import Calls, batch_first, calls_of
from gpudoctor_checks.batch_first import evidence as per_call
from gpudoctor_checks.pipeline_fixes import faster_input, pipeline_fixes
from gpudoctor_checks.recorded import at, costs_from, known_share, percent, place, weigh_run

SURE = 0.9
FROM_WINDOWS = 0.85  # policy: the wait is as sure, the stage that makes it is told by a dozen batches
PER_CALL = frozenset({"generator", "python function"})
CAN_CAUSE = 0.5  # policy: a pipeline that takes less than half of the wait for a batch is not what makes it


@check(
    code="GD511",
    slug="input-bound",
    title="Steps wait for their input",
    family="input",
    cause="input-pipeline",
)
def waiting(
    steps: StepTimes, pipeline: Pipeline | None, hot_lines: HotLines | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Judge the input share of a steady step."""
    share = steps.shares.input
    if isinstance(share, Missing):
        raise Inconclusive(f"the wait is unknown: {share.reason}")
    if steps.input_class == "not":
        return
    slowest = pipeline.slowest if pipeline is not None else None
    grave = steps.input_class == "highly" and _can_cause(steps, pipeline)
    few = pipeline is not None and pipeline.window_batches > 0
    weight = weigh_run(FROM_WINDOWS if few else SURE, baseline, steps)
    calls = _dear_calls(steps, pipeline, hot_lines)
    once = batch_first(slowest, calls, steps) if slowest is not None and calls is not None else ()
    most = "at most " if steps.device_plane in {"closed", "not recorded"} else ""
    yield Finding(
        summary=f"{steps.input_class.capitalize()} input-bound: {most}{share:.0%} of a step waits for data.",
        severity=Severity.WARNING if grave else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("waiting for input", share),
            *((per_call(calls),) if calls is not None else ()),
            *_evidence(steps, pipeline),
            *_python(hot_lines),
        ),
        location=place(slowest.file, slowest.line, slowest.snippet) if slowest is not None else None,
        fixes=(*once, *_fixes(steps, pipeline)) if grave else (),
        share=known_share(share),
    )


def _dear_calls(steps: StepTimes, pipeline: Pipeline | None, lines: HotLines | None) -> Calls | None:
    """Return the calls for a generator's items, or of a mapped Python function, where they cost more than its own lines."""
    if pipeline is None or lines is None or pipeline.slowest is None or pipeline.slowest.python not in PER_CALL:
        return None
    calls = calls_of(pipeline, lines, steps)
    return calls if calls is not None and calls.dear else None


def _can_cause(steps: StepTimes, pipeline: Pipeline | None) -> bool:
    if pipeline is None or isinstance(pipeline.batch_s, Missing) or isinstance(steps.wait_s, Missing):
        return True
    called = any(each.kind == "batch_first" for each in pipeline.changes)  # in no stage's cost
    return called or pipeline.batch_s >= CAN_CAUSE * steps.wait_s


def _evidence(steps: StepTimes, pipeline: Pipeline | None) -> Iterator[Evidence]:
    if not isinstance(steps.step_s, Missing):
        yield Evidence(label="step", value=round(steps.step_s, 6), unit="s", source="run")
    slowest = pipeline.slowest if pipeline is not None else None
    if pipeline is not None and slowest is not None:
        where = f", {at(slowest.file, slowest.line)}" if slowest.line else ""
        cost = f": {slowest.batch_s * 1000:.3g} ms a batch" if slowest.batch_s else " runs Python"
        yield Evidence(label="slowest stage", value=f"{slowest.name}{where}{cost}", source=costs_from(pipeline))
    if pipeline is not None and pipeline.window_batches:
        yield Evidence(label="seen in", value=costs_from(pipeline), source="run")
    if pipeline is not None and pipeline.unknown:
        yield Evidence(label="tf.data graph", value=pipeline.unknown, source="run")


def _python(lines: HotLines | None) -> Iterator[Evidence]:
    """Yield the line of the pipeline's own Python that took most time: a generator's, or of a function that map calls back."""
    found = [each for each in lines.lines if each.role == "pipeline"] if lines is not None else []
    for each in found[:1]:
        words = f"{each.leaf or each.function} {each.share:.0%} of the time"
        yield Evidence(label=at(each.file, each.line), value=words, source="sampled stacks")


def _fixes(steps: StepTimes, pipeline: Pipeline | None) -> Iterator[Fix]:
    made = pipeline_fixes(pipeline)
    yield from made
    if not made:
        yield faster_input(known_share(steps.shares.input), "GD511", "no step waits any more")
