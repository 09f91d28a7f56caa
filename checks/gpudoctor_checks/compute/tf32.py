"""GD603: float32 matrix products run as TF32, with 10 bits of mantissa.

What it does
    Looks at the gradient check of the probe: whether the device's products differ from float64 by more than float32
    rounding allows, on a GPU that has TF32, while no variable switches it off.

Why it matters
    From Ampere on, TensorFlow lets tensor cores round the inputs of float32 products to 10 bits of mantissa. That is
    several times as fast and good enough for nearly all training; it is on by default. It explains why results differ
    from a CPU or an older GPU in the third or fourth digit, and why mixed precision gains less here than the older
    articles say: the comparison starts from a faster float32.

How to fix
    Nothing is broken. Where the digits matter (a test against reference values, a solver, ill-conditioned sums):
    tf.config.experimental.enable_tensor_float_32_execution(False), or NVIDIA_TF32_OVERRIDE=0 for all libraries.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Inconclusive,
    NotApplicable,
    Severity,
    Trial,
    check,
)

FIRST_WITH_TF32 = 80  # NVIDIA Ampere architecture whitepaper; TensorFlow asks the same (gradient check of the probe)
# Bound of float32 for the longest product of the probe (784 terms, unit 2**-24): N. J. Higham, Accuracy and Stability
# of Numerical Algorithms, section 3.1. TF32 rounds each input by up to 2**-10, twenty times as much.
FLOAT32_BOUND = 784 * 2.0**-24
MEASURED = 0.9  # the products themselves; a loose float32 kernel could look alike
EXACT = Fix(
    id="tf32-off",
    title="Only if digits matter: full float32",
    action="setting",
    text="tf.config.experimental.enable_tensor_float_32_execution(False)",
    gain=Gain(grade=Grade.UNPROVEN, basis="more digits, slower products"),
    risk="low",
    effort_minutes=1,
)


@check(
    code="GD603",
    slug="tf32",
    title="float32 products run as TF32",
    family="compute",
    cause="tf32",
    trials=("gradcheck",),
    core=False,
)
def rounded(devices: Devices, gradcheck: Trial | None, env: Environment | None) -> Iterator[Finding]:
    """Believe the products that were measured, not the GPU's model."""
    if max(devices.compute_capabilities) < FIRST_WITH_TF32:
        raise NotApplicable("no GPU here has TF32")
    if env is not None and env.get("NVIDIA_TF32_OVERRIDE") == "0":
        raise NotApplicable("NVIDIA_TF32_OVERRIDE=0 switches it off")
    if gradcheck is None or gradcheck.status != "ok" or gradcheck.device != "GPU":
        raise Inconclusive("no product of the GPU was compared with float64")
    error = gradcheck.values.get("float32.max_relative_error", gradcheck.values.get("max_relative_error"))
    if error is None:
        raise Inconclusive("the gradient check tells no error of float32")
    if error <= FLOAT32_BOUND:
        return
    yield Finding(
        summary=f"float32 products are rounded as TF32 here (error {error:.1e}).",
        severity=Severity.INFO,
        confidence=MEASURED,
        basis="measured by the gradient check, on a GPU that has TF32",
        evidence=(
            Evidence(label="relative error", value=error, source="probe, trial gradcheck"),
            Evidence(label="float32 would stay below", value=round(FLOAT32_BOUND, 7), source="rounding analysis"),
        ),
        fixes=(EXACT,),
    )
