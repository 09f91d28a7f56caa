"""GD618: this run computed in float64.

What it does
    Reads floatx, the dtype policy and the policies of the layers as they were in force.

Why it matters
    Consumer and inference GPUs compute float64 at 1/32 or 1/64 of the float32 rate and have no tensor cores for it; a CPU
    loses half. Memory and copies double. Networks are trained in float32 or less for good reason.

How to fix
    keras.config.set_floatx("float32"), or the dtype policy "float32", and arrays with .astype("float32"): NumPy makes float64
    unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Settings, Severity, Trial, check
from gpudoctor_checks.recorded import place, weigh_run

SURE = 0.9


@check(
    code="GD618",
    slug="float64-in-force",
    title="The model computes in float64",
    family="compute",
    cause="float64",
    core=False,
)
def double(settings: Settings, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the settings."""
    policies = settings.get("layer_policies")
    layers = policies if isinstance(policies, tuple) else ()
    told = [name for name in ("floatx", "dtype_policy") if settings.get(name) == "float64"]
    if "float64" not in layers and not ("dtype_policy" in told and not layers):
        return
    weight = weigh_run(SURE, baseline)
    yield Finding(
        summary="The model computes in float64, twice the bytes and a fraction of the rate of float32.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="floatx", value=str(settings.get("floatx") or "unknown"), source="settings in force"),
            Evidence(label="layers", value=", ".join(layers) or "unknown", source="settings in force"),
        ),
        location=place(settings.file, settings.line),
        fixes=(
            Fix(
                id="float32",
                title="Compute in float32",
                action="diff",
                text='- keras.config.set_floatx("float64")\n+ keras.config.set_floatx("float32")',
                gain=Gain(grade=Grade.UNPROVEN, basis="2x on a CPU at best; more on most GPUs"),
                effort_minutes=2,
            ),
        ),
    )
