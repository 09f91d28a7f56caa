"""GD612: functions were traced again and again in this run.

What it does
    Counts the tracings of each function into a graph, adds up the time of all but the first, and says what differed:
    another shape, another Python value, or a new function object each time.

Why it matters
    A tracing takes tens to hundreds of milliseconds, and its graph stays in memory. TensorFlow's own warning comes at five
    in ten calls; after two of them it is silent, while the training goes on losing time.

How to fix
    A last, smaller batch: drop_remainder=True in batch(). Other lengths: @tf.function(reduce_retracing=True), an
    input_signature with None for the changing dimension, or batches padded to one length. Python numbers: pass tensors.
    A function made anew: define it once, outside the loop. predict() with odd sizes: pad, or call the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import (
    MODERATELY,
    Evidence,
    Finding,
    Fix,
    Severity,
    StepTimes,
    Tracing,
    Tracings,
    Trial,
    check,
)
from gpudoctor_checks.recorded import at, bound, percent, place, weigh_run

SURE = 0.9
OFTEN = 5  # TensorFlow warns at as many (polymorphic_function.py)
# XProf's least class for time outside compute; below it the graphs cost memory only
WORTH = MODERATELY
NOISE = 0.02  # a smaller share gains less than the noise bar of the ranking, 1.02 times
CHANGED, SHAPE = " -> ", re.compile(r"shape=\(([^)]*)\)")  # in the agent's words of what differs
SPEC, SHORT = re.compile(r"TensorSpec\(shape=(\([^)]*\)), dtype=tf\.(\w+), name=\w+\)"), r"\2\1"
OFTEN_IN_KERAS = 12  # policy: Keras traces each model anew, twice with its step; a cross-validation is no fault
# what Keras makes for a model: 3 in keras/src/backend/tensorflow/trainer.py, 2 in keras/src/engine/training.py
KERAS_3 = frozenset({"one_step_on_data", "multi_step_on_iterator", "initialize_variables"})
KERAS_2 = frozenset({"train_function", "test_function", "predict_function", "run_step"})


@check(
    code="GD612",
    slug="retracing",
    title="Functions are traced again and again",
    family="compute",
    cause="eager-or-tracing",
    core=False,
)
def retraced(tracings: Tracings, steps: StepTimes, baseline: Trial | None) -> Iterator[Finding]:
    """Judge each function by its count, all together by the time that they took."""
    often = [each for each in tracings.functions if each.count >= (OFTEN_IN_KERAS if _of_keras(each) else OFTEN)]
    whole = tracings.whole_s or steps.loop_s or steps.run_s
    share = min(1.0, sum(each.total_s for each in often) / whole) if whole > 0 else 0.0
    if not often:
        return
    worst = max(often, key=lambda each: (each.users, each.total_s))
    weight = weigh_run(SURE, baseline)
    yield Finding(
        summary=f"{worst.name} was traced {worst.count} times; retracing took {share:.0%} of the run.",
        severity=Severity.WARNING if share >= WORTH else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(*percent("tracing again", share), *_evidence(often)),
        location=place(worst.file, worst.line),
        fixes=(_fix(worst, share),) if share >= NOISE else (),
        share=share,
    )


def _of_keras(traced: Tracing) -> bool:
    return not traced.users and traced.name in KERAS_2 | KERAS_3


def _evidence(often: list[Tracing]) -> Iterator[Evidence]:
    for each in often[:3]:
        why = next((said for said in each.reasons if CHANGED in said), "") or next(
            iter(each.reasons), "no reason was recorded"
        )
        yield Evidence(
            label=f"{each.name} {at(each.file, each.line)}",
            value=f"{each.count}x, {SPEC.sub(SHORT, why)}",
            source="run",
        )


def _fix(worst: Tracing, share: float) -> Fix:
    title, text = _made_once(worst) if worst.rebuilt else _one_signature(worst)
    gain = bound(share, "nothing is traced twice")
    return Fix(id="trace-once", title=title, action="diff", text=text, gain=gain, effort_minutes=15)


def _made_once(worst: Tracing) -> tuple[str, str]:
    if _of_keras(worst):
        return (
            "Build and compile the model once",
            "  # where all are alike, before the loop; others need graphs of their own:\n+ model = build(); model.compile(...)",
        )
    if worst.users:
        name = worst.name
        return "Define the function once", f"  # before the loop, not inside it:\n+ {name} = tf.function({name})"
    where = at(worst.file, worst.line)
    text = f"  # TensorFlow makes it anew each time that {where} runs:\n  # do that call once, before the loop"
    return f"Have {worst.name[:24]} made once", text


def _one_signature(worst: Tracing) -> tuple[str, str]:
    """Return what lets one graph serve all calls: for what differed from call to call."""
    changed = [each for each in worst.reasons if CHANGED in each]
    if not changed:
        return "Call it in one scope", f"  # {worst.name}() is called under another device, strategy or graph each time"
    shapes = [SHAPE.findall(each) for each in changed]
    if not any(shapes):
        return (
            "Pass tensors, not Python values",
            f"  # in the call of {worst.name}(), for what changes:\n- n\n+ tf.constant(n)",
        )
    if all(before.partition(",")[2] == after.partition(",")[2] for each in shapes for before, after in _pairs(each)):
        return "One shape for all batches", "- ds.batch(n)\n+ ds.batch(n, drop_remainder=True)"
    relaxed = "- @tf.function\n+ @tf.function(reduce_retracing=True)"
    return "One graph for all lengths", f"{relaxed}  # of {worst.name}(); or pad all batches to one length"


def _pairs(shapes: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what each shape was and became: a reason names them in turn."""
    yield from zip(shapes[::2], shapes[1::2], strict=False)
