"""GD614: predict(), fit() or evaluate() was called again and again for little data.

What it does
    Counts the calls of Keras's methods from the lines of your code, the steps that each did, and the time that went there.

Why it matters
    A call makes an iterator, calls callbacks and waits for the result: tens of milliseconds before the first batch. For one
    sample that is nearly all of the time, and no GPU shortens it.

How to fix
    Collect the samples and call predict() once with a large batch_size. Where the samples must come one by one, call the model
    itself, model(x, training=False), inside a tf.function. Instead of fit() in a loop: one fit() with all data and epochs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.sdk import HIGHLY, CallGroup, Calls, Evidence, Finding, Fix, Limits, Severity, Threshold, Trial, check
from gpudoctor_checks.recorded import WHOLE, at, estimate, percent, place, weigh_run

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
    """Find the method with many short calls that took most time, from all lines together, and name the lines."""
    own = ((each, each.calls / max(1, each.models)) for each in calls.groups)  # a search for a model makes each anew
    many = [each for each, of_a_model in own if of_a_model >= limits.of(MANY)]
    short = [each for each in many if each.steps / each.calls <= FEW_STEPS]
    kinds = {each.kind: [other for other in short if other.kind == each.kind] for each in short}
    lines = max(kinds.values(), key=_share, default=list[CallGroup]())
    share = _share(lines)
    if share < HIGHLY:
        return
    worst, count, total_s = max(lines, key=lambda each: each.share), _calls(lines), sum(each.total_s for each in lines)
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    weight = weigh_run(SURE, baseline)
    yield Finding(
        summary=f"{worst.kind}() was called {count} times at {at(worst.file, worst.line)}{more}, for little each time.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("time in these calls", share),
            Evidence(label="steps per call", value=round(sum(each.steps for each in lines) / count, 1), source="run"),
            Evidence(label="one call", value=round(total_s / count, 5), unit="s", source="run"),
            *_lines(lines),
        ),
        location=place(worst.file, worst.line),
        fixes=(_fix(worst.kind, share, total_s / count),),
        share=share,
    )


def _share(lines: Sequence[CallGroup]) -> float:
    return min(1.0, sum(each.share for each in lines))


def _calls(lines: Sequence[CallGroup]) -> int:
    return sum(each.calls for each in lines)


def _lines(lines: Sequence[CallGroup]) -> Iterator[Evidence]:
    """Yield the lines, where there are several."""
    for each in sorted(lines, key=lambda each: -each.share)[:3] if len(lines) > 1 else ():
        yield Evidence(
            label=at(each.file, each.line), value=f"{each.calls} calls, {each.share:.0%} of the time", source="run"
        )


def _fix(kind: str, share: float, call_s: float) -> Fix:
    overhead = share * min(1.0, CALL_S / max(1e-9, call_s))
    low, high = (1 / (1 - min(part, WHOLE)) for part in (overhead, share))
    gain = estimate(low, high, "from a third of the fastest call's fixed cost to all of these calls")
    if kind != "predict":
        text = f"- for part in parts: model.{kind}(part)\n+ model.{kind}(all_parts)"
        title = f"One call of {kind}() for all, not in a loop"
        return Fix(id="one-call", title=title, action="diff", text=text, gain=gain, effort_minutes=15)
    text = (
        "  # once: infer = tf.function(lambda x: model(x, training=False))\n"
        "- model.predict(x)\n"
        "+ infer(tf.constant(x))  # or, where all samples are known, one model.predict(np.stack(samples))"
    )
    title = "Call the model itself, not predict()"
    return Fix(id="one-call", title=title, action="diff", text=text, gain=gain, effort_minutes=15)
