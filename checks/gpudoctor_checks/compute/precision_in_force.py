"""GD616: the precision in which this run computed brings it nothing, or leaves something.

What it does
    Reads the dtype policy in force and compares it with the devices that TensorFlow had, and with what the steps spent
    their time on.

Why it matters
    Mixed precision pays where a GPU with tensor cores computes most of the step. On a CPU, or a GPU without tensor cores, the
    same policy costs time; where steps wait for data or launches, it changes nothing.

How to fix
    Without tensor cores: keras.config.set_dtype_policy("float32"). With them, and a step that is bound by compute: try
    "mixed_bfloat16" (compute capability 8.0 and newer) or "mixed_float16" and compare loss and time; units, filters and batch
    should be multiples of 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    HIGHLY,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    MachineOverTime,
    Missing,
    Settings,
    Severity,
    StepTimes,
    Trial,
    check,
    gpus,
)
from gpudoctor_checks.recorded import known_share, on_gpu, place, weigh_run

SURE = 0.85
BUSY = 0.5  # policy: a device that works for less than half of the step is not what bounds it
UNTOLD = Gain(grade=Grade.UNPROVEN, basis="not measured on this model")
MIXED = Fix(
    id="mixed-precision-policy",
    title="Try mixed precision, compare loss and time",
    action="diff",
    text='+ keras.config.set_dtype_policy("mixed_float16")  # before the model is built',
    gain=UNTOLD,
    risk="medium",
)


@check(
    code="GD616",
    slug="precision-in-force",
    title="The precision does not fit the device",
    family="compute",
    cause=("mixed-precision-no-gain", "mixed-precision-off"),
    core=False,
)
def precision(
    settings: Settings, steps: StepTimes, machine: MachineOverTime | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Compare policy and device."""
    policy = str(settings.get("dtype_policy") or "")
    mixed = policy.startswith("mixed_")
    gpu = on_gpu(settings)
    cores = _tensor_cores(machine)
    weight = weigh_run(SURE, baseline)
    reason = "no GPU was used" if not gpu else "this GPU has no tensor cores" if cores is False else ""
    if mixed and reason:
        yield Finding(
            summary=f"{policy} gains nothing here: {reason}.",
            severity=Severity.WARNING,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=tuple(_evidence(policy, settings)),
            location=place(settings.file, settings.line),
            fixes=(_float32(policy),),
            cause="mixed-precision-no-gain",
        )
    elif policy == "float32" and cores and known_share(steps.shares.device) >= BUSY and _not_starved(steps):
        yield Finding(
            summary="The GPU has tensor cores and is busy, and the model computes in float32.",
            severity=Severity.INFO,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=tuple(_evidence(policy, settings)),
            location=place(settings.file, settings.line),
            fixes=(MIXED,),
            cause="mixed-precision-off",
        )


def _tensor_cores(machine: MachineOverTime | None) -> bool | None:
    """Return whether the GPU at work has tensor cores; None where its name is not known."""
    for each in machine.gpus if machine is not None else ():
        known = None if isinstance(each.name, Missing) else gpus.has_tensor_cores(each.name)
        if known is not None:
            return known
    return None


def _not_starved(steps: StepTimes) -> bool:
    return known_share(steps.shares.input) < HIGHLY


def _evidence(policy: str, settings: Settings) -> Iterator[Evidence]:
    yield Evidence(label="dtype policy", value=policy, source="settings in force")
    yield Evidence(label="GPUs of TensorFlow", value=int(settings.number("gpus")), source="settings in force")


def _float32(policy: str) -> Fix:
    return Fix(
        id="float32-policy",
        title="Compute in float32 on this device",
        action="diff",
        text=f'- keras.config.set_dtype_policy("{policy}")\n+ keras.config.set_dtype_policy("float32")',
        gain=UNTOLD,
        effort_minutes=1,
    )
