"""GD513: NumPy or plain Python of yours holds the steps of this run.

What it does
    Samples the stacks of the Python threads and adds up where your code spends the time: in the loop itself between the
    steps, or in a function that is called for its input: by tf.data (numpy_function, py_function), or by Keras (the
    __getitem__ of a PyDataset or Sequence). It names the lines.

Why it matters
    NumPy and Python work on one core under one lock while the device waits. In the loop each second of it is added to the
    steps; in the pipeline calls cannot run side by side, whatever num_parallel_calls says. A small function called for each
    example may cost more by its calls than by what it does: both are measured.

How to fix
    In a map: write the function with tf.* ops and map it with num_parallel_calls=tf.data.AUTOTUNE; or batch first and call
    it once for each batch. In a PyDataset: workers, threads for NumPy, processes for Python. In a loop: move the work
    into tf.data, into the tf.function, or out of the loop. Work that is the same every epoch: do it once.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    HIGHLY,
    Finding,
    HotLine,
    HotLines,
    Pipeline,
    Severity,
    Stage,
    StepTimes,
    Trial,
    Weight,
    check,
)
from gpudoctor_checks.batch_first import WORK, batch_first, calls_of, evidence
from gpudoctor_checks.input.loops_own_work import out_of_the_loop
from gpudoctor_checks.pipeline_diffs import function_of
from gpudoctor_checks.pipeline_fixes import WORKERS, pipeline_fixes
from gpudoctor_checks.recorded import at, hottest_lines, known_share, percent, place, weigh_run

SURE = 0.85
CALLED = frozenset({"python function", "sequence"})  # a function of the user's, called for each example or each batch
MOSTLY = 0.5  # policy: what is most of a function's time names its cause


@check(
    code="GD513",
    slug="hot-python",
    title="NumPy or Python holds the steps",
    family="input",
    cause="numpy-hot-loop",
    core=False,
)
def hot(hot_lines: HotLines, steps: StepTimes, pipeline: Pipeline | None, baseline: Trial | None) -> Iterator[Finding]:
    """Look into the loop first, then into what the pipeline calls back."""
    own = tuple(each for each in hot_lines.hottest("main", *WORK) if _is_work(each, steps))
    share = min(sum(each.share for each in own), known_share(steps.shares.host))
    weight = weigh_run(SURE, baseline, steps if steps.methods else None)
    if own and share >= HIGHLY:
        yield Finding(
            summary=f"Your own {_kind(own)} in the loop takes {share:.0%} of the time: {at(own[0].file, own[0].line)}.",
            severity=Severity.WARNING,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=(*percent("own code in the loop", share, "sampled stacks"), *hottest_lines(own)),
            location=place(own[0].file, own[0].line, own[0].snippet),
            fixes=tuple(out_of_the_loop(own[0], share, steps)),
            share=share,
        )
        return
    called = _called_back(hot_lines, steps, pipeline)
    if called and pipeline is not None and pipeline.slowest is not None:
        yield _in_the_pipeline(called, pipeline, pipeline.slowest, hot_lines, steps, weight)


def _in_the_pipeline(
    called: tuple[HotLine, ...], pipeline: Pipeline, slowest: Stage, lines: HotLines, steps: StepTimes, weight: Weight
) -> Finding:
    """Return the finding of a mapped function: what it does, or that it is called for each example, whichever costs more."""
    share, where, name = known_share(steps.shares.input), at(called[0].file, called[0].line), function_of(slowest)
    calls = calls_of(pipeline, lines, steps)
    dear = calls is not None and calls.dear
    own = place(called[0].file, called[0].line, called[0].snippet)
    held = f"{_kind(called)} in {name} holds the input: {where}."
    once = batch_first(slowest, calls, steps) if calls is not None and dear else ()
    return Finding(
        summary=f"Calling Python for each example holds the input: {name}, {where}." if dear else held,
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("waiting for input", share),
            *((evidence(calls),) if calls is not None and dear else ()),
            *hottest_lines(called),
        ),
        location=own if slowest.python == "sequence" else place(slowest.file, slowest.line, slowest.snippet) or own,
        fixes=(*once, *pipeline_fixes(pipeline, "tf_ops", *WORKERS)),
        share=share,
    )


def _is_work(line: HotLine, steps: StepTimes) -> bool:
    """Leave out callbacks, and the loop's own line, on which Python collects garbage."""
    return not line.function.startswith("on_") and (
        bool(line.leaf) or (line.file, line.line) != (steps.file, steps.line)
    )


def _called_back(lines: HotLines, steps: StepTimes, pipeline: Pipeline | None) -> tuple[HotLine, ...]:
    """Return the lines of a mapped Python function, where steps wait for it and it works rather than waits."""
    slowest = pipeline.slowest if pipeline is not None else None
    if steps.input_class != "highly" or slowest is None or slowest.python not in CALLED:
        return ()
    work = lines.hottest("pipeline", "numpy", "python")
    everything = lines.total("pipeline", *WORK)
    return work if work and sum(each.share for each in work) >= MOSTLY * everything else ()


def _kind(lines: tuple[HotLine, ...]) -> str:
    numpy = sum(each.share for each in lines if each.activity == "numpy")
    return "NumPy" if numpy >= MOSTLY * sum(each.share for each in lines) else "Python"
