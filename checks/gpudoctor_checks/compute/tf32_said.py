"""GD652: results differ by TF32 rounding.

What it does
    Reads TensorFlow's line about TensorFloat-32 and printed relative differences, with the GPU's compute capability.

Why it matters
    From Ampere on float32 matrix products carry 10 bits of mantissa by default, so results differ from a CPU's by about
    5e-4 of their size. The GPU is sound.

How to fix
    Nothing, for most training. Where full precision is needed, switch TF32 off; products then take longer.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Devices, Finding, Inconclusive, Log, LogEvent, Severity, Trial, check
from gpudoctor_checks.said import change, events, log_finding, unproven, weigh_program

AMPERE = 80  # the first with TF32 (CUDA C++ Programming Guide, compute capability 8.x)
# TF32 keeps 10 bits: one rounding is at most 2**-11, about 4.9e-4; sums stay in this decade. float32 gives below 1e-5.
LEAST, MOST = 1e-5, 2e-3
OFF = unproven(
    change(
        "tf32-off",
        "Switch TF32 off where it matters",
        "tf.config.experimental.enable_tensor_float_32_execution(False)",
        why="",
        minutes=1,
    ),
    "it costs speed; it makes float32 exact",
)


@check(
    code="GD652",
    slug="tf32-in-log",
    title="Differences are TF32 rounding",
    family="compute",
    cause="tf32",
    core=False,
)
def rounded(log: Log, devices: Devices | None, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the size of the difference; TensorFlow prints its line on every GPU that has TF32."""
    told, differ = events(log, "tf32"), [each for each in events(log, "difference") if _like_tf32(each)]
    new = devices is not None and max(devices.compute_capabilities, default=0) >= AMPERE
    if differ and devices is None and not told:
        raise Inconclusive("which GPU it was is unknown; only Ampere and newer have TF32")
    if differ and (new or told):
        yield log_finding(
            "The difference is what TF32 rounding gives; the GPU is sound.",
            weigh_program(0.85, baseline),
            (*differ, *told),
            OFF,
            cause="tf32",
            severity=Severity.INFO,
        )
    elif told:
        weight = weigh_program(0.6, baseline)
        summary = "float32 matrix products are rounded to TF32 here, as by default."
        yield log_finding(summary, weight, told, OFF, cause="tf32", severity=Severity.INFO)


def _like_tf32(event: LogEvent) -> bool:
    return LEAST <= float(event.values.get("share", "0")) <= MOST
