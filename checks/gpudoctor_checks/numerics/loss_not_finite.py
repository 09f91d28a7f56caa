"""GD952: the loss of this run became NaN or infinite.

What it does
    Reads the loss that Keras tells after each step, once a second, and names the first step at which it was NaN or infinite.

Why it matters
    From that step on the weights are lost as a rule: the rest of the run is wasted. The GPU computes as it should.

How to fix
    Under float16: last layer and loss in float32, scaled loss. In float32: a rate of learning that is too high, a log or a
    division of 0, or NaN in the data. `tf.debugging.enable_check_numerics()` names the first operation, in one slow run.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Missing,
    NotApplicable,
    Run,
    Settings,
    Severity,
    Skip,
    Trial,
    check,
)
from gpudoctor_checks.recorded import place, weigh_run

SEEN = 0.9  # that it is NaN is certain; which of the reasons it is stays open
HALF = frozenset({"float16", "mixed_float16"})
FIND = Fix(
    id="check-numerics",
    title="Find the first operation that is NaN",
    action="diff",
    text="+ tf.debugging.enable_check_numerics()  # before the model is built; slow, so for one run",
    gain=Gain(grade=Grade.UNPROVEN, basis="it names the place"),
    effort_minutes=5,
)
CLIP = Fix(
    id="clip-gradients",
    title="A lower learning rate, or clipped gradients",
    action="diff",
    text="+ optimizer = keras.optimizers.Adam(learning_rate=1e-4, clipnorm=1.0)",
    gain=Gain(grade=Grade.UNPROVEN, basis="where steps grow too large"),
    effort_minutes=5,
)
FLOAT32 = Fix(
    id="float32-output",
    title="Last layer and loss in float32",
    action="diff",
    text="+ outputs = keras.layers.Dense(n, dtype='float32')(x)  # n as before; the loss is then computed in float32",
    gain=Gain(grade=Grade.UNPROVEN, basis="where NaN comes from float16"),
    effort_minutes=5,
)


@check(
    code="GD952",
    slug="loss-not-finite",
    title="The loss became NaN or infinite",
    family="numerics",
    cause=("loss-not-finite", "fp16-nan"),
    core=False,
)
def not_finite(run: Run, settings: Settings | None, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the loss; float16, where it is in force, is the first suspect."""
    if not run.trained:
        why = "nothing was trained"
        raise NotApplicable(why)
    if run.loss is None:
        raise Skip(run.unknown.get("loss", "no loss was told"))
    if isinstance(run.loss.bad_step, Missing):
        return
    half = settings is not None and _in_float16(settings)
    after = run.loss.steps - run.loss.bad_step
    rest = f"; {after:,} more steps were trained with it" if after > 0 else ""
    step = _step(run.loss.bad_step, run.loss.bad_within)
    where = f"{step} of {run.loss.label}, {'under float16' if half else 'in float32'}"
    weight = weigh_run(SEEN, baseline)
    yield Finding(
        summary=f"The loss became {run.loss.bad_value} {where}{rest}.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        cause="fp16-nan" if half else "loss-not-finite",
        evidence=(
            Evidence(label="first step", value=run.loss.bad_step, source="loss"),
            Evidence(label="loss at first", value=run.loss.first_value or "not seen", source="loss"),
        ),
        location=place(run.loss.file, run.loss.line),
        fixes=(FLOAT32, FIND) if half else (FIND, CLIP),
    )


def _step(step: int, within: int) -> str:
    return f"at step {step:,}" if within == 1 else f"between steps {step - within + 1:,} and {step:,}"


def _in_float16(settings: Settings) -> bool:
    policies = settings.get("layer_policies")
    return bool(HALF & {str(settings.get("dtype_policy")), *(policies if isinstance(policies, tuple) else ())})
