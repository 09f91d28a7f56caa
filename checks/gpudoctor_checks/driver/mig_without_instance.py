"""GD113: MIG mode is on and the GPU has no instance.

What it does
    Reads from NVML whether Multi-Instance GPU mode is on for each GPU and how many instances there are.

Why it matters
    In MIG mode CUDA sees the instances of a GPU, never the GPU itself. Without an instance it sees nothing: cuInit says
    "no CUDA-capable device" although nvidia-smi lists the GPU, and training runs on the CPU. Instances do not survive a
    restart, so a machine that worked yesterday can lose them over night.

How to fix
    Create an instance, or switch MIG mode off; both need an administrator and a GPU that nobody uses. Where an operator
    or a scheduler deals out instances, ask for one instead. A process can use one instance only.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gpu,
    Gpus,
    Missing,
    Severity,
    Skip,
    Trial,
    check,
    unblocks,
    weigh_unusable,
)

COUNTED = 0.95  # NVML was asked for each place where an instance could be


@check(
    code="GD113",
    slug="mig-without-instance",
    title="MIG mode without an instance",
    family="driver",
    cause="mig",
)
def without_instance(gpus: Gpus, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the GPUs in MIG mode; one that has no such mode is not in it."""
    empty = [gpu for gpu in gpus if gpu.mig_mode == "enabled" and gpu.mig_instances == 0]
    unknown = [f"GPU {gpu.index}: {why}" for gpu in gpus if (why := _unknown(gpu))]
    if not empty and (unknown or not len(gpus)):
        raise Skip("; ".join(unknown) or "NVML lists no GPU")
    weight = weigh_unusable(COUNTED, baseline)
    for gpu in empty:
        yield Finding(
            subject=f"GPU {gpu.index}",
            summary=f"GPU {gpu.index} is in MIG mode and has no instance: CUDA sees nothing of it.",
            severity=Severity.ERROR if len(empty) == len(gpus) else Severity.WARNING,
            confidence=weight.confidence if len(empty) == len(gpus) else COUNTED,
            basis=weight.basis if len(empty) == len(gpus) else "NVML; there are other GPUs",
            evidence=(
                Evidence(label="MIG mode", value="enabled", source="NVML"),
                Evidence(label="instances", value=0, source="NVML"),
            ),
            fixes=(_create(gpu), _switch_off(gpu)),
        )


def _unknown(gpu: Gpu) -> str:
    if isinstance(gpu.mig_mode, Missing):
        return "" if gpu.mig_mode.reason.startswith("not_supported") else f"MIG mode unknown ({gpu.mig_mode.reason})"
    if gpu.mig_mode == "enabled" and isinstance(gpu.mig_instances, Missing):
        return f"MIG instances unknown ({gpu.mig_instances.reason})"
    return ""


def _create(gpu: Gpu) -> Fix:
    return Fix(
        id=f"create-mig-instance-{gpu.index}",
        title="Create one instance of the whole GPU",
        action="command",
        text=f"sudo nvidia-smi mig -i {gpu.index} -cgi 0 -C",
        gain=unblocks("CUDA sees instances only"),
        effort_minutes=2,
    )


def _switch_off(gpu: Gpu) -> Fix:
    return Fix(
        id=f"mig-off-{gpu.index}",
        title="Or switch MIG mode off (the GPU must be idle)",
        action="command",
        text=f"sudo nvidia-smi -i {gpu.index} -mig 0",
        gain=unblocks("CUDA sees the GPU itself again"),
        risk="medium",
        effort_minutes=5,
    )
