"""GD617: this run computed in float16 without loss scaling.

What it does
    Reads the dtype policy and whether the optimizer scales the loss, and notes a loss that became NaN where the run told so.

Why it matters
    float16 ends at 65504 and loses what is below 6e-8. Gradients often are smaller: they become zero, or the loss NaN, after
    hours. Weights in float16 (policy "float16") cannot even keep small updates.

How to fix
    keras.config.set_dtype_policy("mixed_float16") and compile(): Keras then keeps float32 weights and scales the loss. On
    GPUs of compute capability 8.0 and newer "mixed_bfloat16" needs no scaling. Keep the last activation in float32.
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
    Run,
    Settings,
    Severity,
    Trial,
    check,
)
from gpudoctor_checks.recorded import place, weigh_run

SURE = 0.85


@check(
    code="GD617",
    slug="float16-unscaled",
    title="float16 without loss scaling",
    family="compute",
    cause="fp16-nan",
    core=False,
)
def unscaled(settings: Settings, run: Run, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the policy; a NaN makes it an error."""
    policy = str(settings.get("dtype_policy") or "")
    policies = settings.get("layer_policies")
    layers = policies if isinstance(policies, tuple) else ()
    pure = "float16" in {policy, *layers}
    bare = policy == "mixed_float16" and settings.get("loss_scale") is False and settings.get("optimizer") is not None
    if not pure and not bare:
        return
    failed = run.loss is not None and not isinstance(run.loss.bad_step, Missing)
    weight = weigh_run(SURE, baseline)
    yield Finding(
        summary=f"The model computes in {'float16' if pure else policy} and no loss is scaled{', and the loss became NaN' if failed else ''}.",
        severity=Severity.ERROR if failed else Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="dtype policy", value=policy or ", ".join(layers), source="settings in force"),
            Evidence(label="loss scaled", value=settings.on("loss_scale"), source="settings in force"),
        ),
        location=place(settings.file, settings.line),
        fixes=(
            Fix(
                id="mixed-with-scaling",
                title="float32 weights, scaled loss",
                action="diff",
                text=f'- keras.config.set_dtype_policy("{policy}")\n+ keras.config.set_dtype_policy("mixed_float16")  # and model.compile()',
                gain=Gain(grade=Grade.UNBLOCKS if failed else Grade.UNPROVEN, basis="the loss stays finite"),
                effort_minutes=5,
            ),
        ),
    )
