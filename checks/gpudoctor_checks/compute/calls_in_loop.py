"""GD614: predict(), fit() or evaluate() was called again and again for little data.

What it does
    Counts the calls of Keras's methods from each line of your code, the steps that each did, and the time that went there.

Why it matters
    A call makes an iterator, calls callbacks and waits for the result: tens of milliseconds before the first batch. For one
    sample that is nearly all of the time, and no GPU shortens it.

How to fix
    Collect the samples and call predict() once with a large batch_size. Where the samples must come one by one, call the model
    itself, model(x, training=False), inside a tf.function. Instead of fit() in a loop: one fit() with all data and epochs.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import HIGHLY, CallGroup, Calls, Evidence, Finding, Fix, Limits, Severity, Threshold, Trial, check
from gpudoctor_checks.recorded import at, bound, percent, place, weigh_run

SURE = 0.9
MANY = Threshold(
    name="fewest_calls",
    default=10,
    unit="calls",
    meaning="as many calls of fit or predict from one line are told",
    source="policy: a cross-validation calls fit five or ten times, and each does real work",
    least=1,
)
FEW_STEPS = 10.0  # policy: with more steps a call's fixed cost is the lesser part
# policy: a third of the fastest of 60 calls of predict() on one sample, 65 ms (TensorFlow 2.21, Keras 3.15, 2 loaded cores);
# the same model in a tf.function took 0.3 ms
CALL_S = 0.02


@check(
    code="GD614",
    slug="calls-in-loop",
    title="Keras is called for single samples",
    family="compute",
    cause="per-call-overhead",
    core=False,
    thresholds=(MANY,),
)
def called(calls: Calls, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Find the line with many short calls that took most time."""
    short = [each for each in calls.groups if each.calls >= limits.of(MANY) and each.steps / each.calls <= FEW_STEPS]
    worst = max(short, key=lambda each: each.share, default=None)
    if worst is None or worst.share < HIGHLY:
        return
    weight = weigh_run(SURE, baseline)
    yield Finding(
        summary=f"{worst.kind}() was called {worst.calls} times at {at(worst.file, worst.line)}, for little each time.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("time in these calls", worst.share),
            Evidence(label="steps per call", value=round(worst.steps / worst.calls, 1), source="run"),
            Evidence(label="one call", value=round(worst.total_s / worst.calls, 5), unit="s", source="run"),
        ),
        location=place(worst.file, worst.line),
        fixes=(_fix(worst),),
        share=worst.share,
    )


def _fix(worst: CallGroup) -> Fix:
    overhead = worst.share * min(1.0, CALL_S / max(1e-9, worst.total_s / worst.calls))
    if worst.kind == "predict":
        old, new = "for x in samples: model.predict(x)", "model.predict(np.stack(samples), batch_size=256)"
    else:
        old, new = f"for part in parts: model.{worst.kind}(part)", f"model.{worst.kind}(all_parts)"
    return Fix(
        id="one-call",
        title=f"One call of {worst.kind}() for all, not in a loop",
        action="diff",
        text=f"- {old}\n+ {new}",
        gain=bound(overhead, "the fixed cost is paid once"),
        effort_minutes=15,
    )
