"""GD601: whether mixed precision pays on this GPU.

What it does
    Trains a wide reference network in float32 and in mixed precision, in turn, large enough to keep the GPU busy, and
    looks up whether this GPU has tensor cores. It does not see which policy your script uses.

Why it matters
    With tensor cores, float16 or bfloat16 matrix work can run several times faster than float32. Without them it cannot:
    GTX 16xx and MX450/550 report compute capability 7.5 and have none, and Pascal 6.1 computes float16 at 1/64 of its
    float32 rate. From Ampere on, TensorFlow's float32 already runs as TF32 on tensor cores, so the gain is smaller.
    Weights stay float32, so the memory saved lies between nothing and just under a half: only activations shrink.

How to fix
    Set the policy before the model is built, and keep the last layer in float32:
        keras.mixed_precision.set_global_policy("mixed_float16")
        outputs = keras.layers.Dense(10, activation="softmax", dtype="float32")(x)
    From compute capability 8.0 on, mixed_bfloat16 needs no loss scaling; with mixed_float16, compile() adds it by itself.
    Make layer widths, filters and batch multiples of 8, and compare the validation loss with a float32 run. Small models
    gain nothing: their steps are bound by launches (GD602).
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Comparison,
    Devices,
    Driver,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Inconclusive,
    Kernel,
    NotApplicable,
    Severity,
    Skip,
    Trial,
    check,
    gpus,
)
from gpudoctor_checks.presence import gpu_present
from gpudoctor_checks.ratios import find, gains, gains_nothing, probe_gain, shown, told

TABLE = 0.8  # the table of GPUs says that there are no tensor cores; nothing was measured
MEASURED = 0.5  # policy: the ratio is measured, but whether your script has it off already and is as large was not seen
BOTH = 0.9  # the table says so, and the trial shows it
STAY = Fix(
    id="stay-float32",
    title="Where it is on, turn it off",
    action="diff",
    text='keras.mixed_precision.set_global_policy("float32")',
    gain=Gain(grade=Grade.UNPROVEN, basis="float16 runs without tensor cores here, and needs loss scaling"),
    risk="none",
)
PRESENCE = {True: "yes", False: "none", None: "unknown"}
BFLOAT16_FROM = 80  # compute capability 8.0: TensorFlow's mixed-precision guide


@check(
    code="GD601",
    slug="mixed-precision",
    title="Whether mixed precision pays here",
    family="compute",
    cause=("mixed-precision-off", "mixed-precision-no-gain"),
    trials=("precision",),
    core=False,
)
def pays(
    devices: Devices | None, driver: Driver | None, kernel: Kernel | None, precision: Trial | None
) -> Iterator[Finding]:
    """Believe the trial; without one, only the lack of tensor cores is a verdict."""
    if devices is None:
        raise NotApplicable("no GPU") if gpu_present(driver, kernel) is False else Skip("no GPU's name is known")
    name, capability = devices.names[0], devices.compute_capabilities[0]
    tensor_cores = gpus.has_tensor_cores(name, capability)
    ratio = find(precision, "mixed", "float32") if precision is not None and precision.device == "GPU" else None
    if ratio is not None and gains(ratio):
        yield _gain(name, capability, ratio)
    elif ratio is not None and not gains_nothing(ratio):
        raise Inconclusive(f"no proven gain on the reference network: {told(ratio)}")
    elif ratio is not None or tensor_cores is False:
        yield _no_gain(name, ratio, tensor_cores=tensor_cores)
    elif precision is None:
        raise Inconclusive(f"not measured; {name}: tensor cores {PRESENCE[tensor_cores]}")
    else:
        raise Inconclusive(precision.reason or f"the trial is {precision.status}, on the {precision.device}")


def _gain(name: str, capability: int, ratio: Comparison) -> Finding:
    formats = "float16 or bfloat16" if capability >= BFLOAT16_FROM else "float16"
    return Finding(
        summary=f"Mixed precision: {told(ratio)} on the wide reference network.",
        severity=Severity.INFO,
        confidence=MEASURED,
        basis="measured on the reference network; whether your script uses it already was not seen",
        cause="mixed-precision-off",
        evidence=(
            *shown("mixed precision", ratio, "precision"),
            Evidence(label="GPU", value=name, source="driver"),
        ),
        fixes=(
            Fix(
                id="mixed-precision",
                title=f"{formats}; last layer in float32",
                action="diff",
                text='keras.mixed_precision.set_global_policy("mixed_float16")',
                gain=probe_gain(ratio),
                risk="medium",
                effort_minutes=10,
            ),
        ),
    )


def _no_gain(name: str, ratio: Comparison | None, *, tensor_cores: bool | None) -> Finding:
    lacking = tensor_cores is False
    why = "it has no tensor cores" if lacking else "float32 is as fast here"
    return Finding(
        summary=f"Mixed precision brings no speed on this GPU: {why}.",
        severity=Severity.INFO,
        confidence=(TABLE if ratio is None else BOTH) if lacking else MEASURED,
        basis="table of GPUs; not measured" if ratio is None else "measured on the reference network",
        cause="mixed-precision-no-gain",
        evidence=(
            *shown("mixed precision", ratio, "precision"),
            Evidence(label="tensor cores", value=f"{PRESENCE[tensor_cores]} ({name})", source="table of GPUs"),
        ),
        fixes=(STAY,) if lacking else (),
    )
