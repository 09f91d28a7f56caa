"""GD612: functions were traced again and again in this run.

What it does
    Counts the tracings of each function into a graph, adds up the time of all but the first, and says what differed:
    another shape, another Python value, or a new function object each time.

Why it matters
    A tracing takes tens to hundreds of milliseconds, and its graph stays in memory. TensorFlow's own warning comes at five
    in ten calls; after two of them it is silent, while the training goes on losing time.

How to fix
    Other shapes: drop_remainder=True in batch(), or input_signature with None for the changing dimension. Python numbers:
    pass tensors. A function made anew: define it once, outside the loop. predict() with odd sizes: pad, or call the model.
"""

from __future__ import annotations

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
        fixes=(_fix(worst, share),),
        share=share,
    )


def _of_keras(traced: Tracing) -> bool:
    return not traced.users and traced.name in KERAS_2 | KERAS_3


def _evidence(often: list[Tracing]) -> Iterator[Evidence]:
    for each in often[:3]:
        why = each.reasons[0] if each.reasons else "no reason was recorded"
        yield Evidence(label=f"{each.name} {at(each.file, each.line)}", value=f"{each.count}x, {why}", source="run")


def _fix(worst: Tracing, share: float) -> Fix:
    shapes = any("TensorSpec" in each or "shape" in each for each in worst.reasons)
    if worst.rebuilt and not _of_keras(worst) and not worst.users:
        where = at(worst.file, worst.line)
        title = f"Have {worst.name[:24]} made once"
        text = f"  # TensorFlow makes it anew each time that {where} runs:\n  # do that call once, before the loop"
    elif worst.rebuilt and not _of_keras(worst):
        title, text = (
            "Define the function once",
            f"  # before the loop, not inside it:\n+ {worst.name} = tf.function({worst.name})",
        )
    elif worst.rebuilt:
        title, text = (
            "Build and compile the model once",
            "  # before the loop, not inside it:\n+ model = build(); model.compile(...)",
        )
    elif shapes:
        title, text = "One shape for all batches", "- ds.batch(n)\n+ ds.batch(n, drop_remainder=True)"
    else:
        title, text = "Pass tensors, not Python values", f"- {worst.name}(step)\n+ {worst.name}(tf.constant(step))"
    return Fix(
        id="trace-once",
        title=title,
        action="diff",
        text=text,
        gain=bound(share, "nothing is traced twice"),
        effort_minutes=15,
    )
