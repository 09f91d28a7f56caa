"""GD116: CUDA_VISIBLE_DEVICES and MIG do not fit: an instance that is not there, or several for one process.

What it does
    Compares the MIG instances named in CUDA_VISIBLE_DEVICES with what NVML tells of each GPU's MIG mode.

Why it matters
    One process uses one MIG instance. Naming two, or expecting MirroredStrategy to see all of them, gives the first one
    and no error. A name that was right before the GPU left MIG mode, or before the instances were made anew, hides
    every GPU: instances get new names each time.

How to fix
    nvidia-smi -L lists the instances with their names. Start one process for each instance and give each its own name:
    CUDA_VISIBLE_DEVICES=MIG-... python train.py. To train on the whole GPU in one process, MIG mode must be off, which
    needs an administrator and an idle GPU. Memory and multiprocessors of an instance are fixed; a bigger one must be
    created.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Gpu,
    Gpus,
    Grade,
    Inconclusive,
    Missing,
    Severity,
    Skip,
    Trial,
    check,
    either,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.usage import weigh_pace

NAME = "CUDA_VISIBLE_DEVICES"
NO_MIG_MODE = 0.9  # NVML tells the mode of each GPU; the name then cannot be right
NOT_COUNTED = 0.7  # the rule below is certain, how many instances there are is not known
FIRST_ONLY = 0.9  # NVIDIA MIG User Guide, "CUDA Device Enumeration": a process enumerates a single MIG instance
LIST = Fix(
    id="list-mig-instances",
    title="List the instances and name one that exists",
    action="command",
    text="nvidia-smi -L",
    gain=unblocks("the name in the variable hides every GPU"),
    risk="none",
    effort_minutes=2,
)
ONE_EACH = Fix(
    id="one-process-per-instance",
    title="One process for each instance",
    action="setting",
    text="CUDA_VISIBLE_DEVICES=MIG-<uuid> python train.py   # once for each line of nvidia-smi -L",
    gain=Gain(grade=Grade.UNPROVEN, basis="the other instances are idle now"),
)


@check(
    code="GD116",
    slug="mig-instances",
    title="MIG instances and this process do not fit",
    family="driver",
    cause="mig",
    core=False,
)
def instances(env: Environment | None, gpus: Gpus | None, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the names in the variable first; without names, tell where several instances wait for one process."""
    value = (env.get(NAME) if env is not None else None) or ""
    named = [each.strip() for each in value.split(",") if each.strip().startswith("MIG-")]
    modes = [_mode(gpu) for gpu in gpus] if gpus is not None else []
    count = sum(either(gpu.mig_instances, 0) for gpu in gpus) if gpus is not None else 0
    if named and not any(mode == "enabled" for mode in modes):
        if not modes or None in modes:
            raise Inconclusive(f"{NAME} names a MIG instance, and the MIG mode of the GPUs is unknown")
        weight = weigh_unusable(NO_MIG_MODE, baseline)
        summary, severity, fix = f"{NAME} names a MIG instance, but no GPU is in MIG mode.", Severity.ERROR, LIST
    elif len(named) > 1:
        weight = weigh_pace(FIRST_ONLY, baseline)
        summary, severity, fix = (
            f"{NAME} names {len(named)} MIG instances; a process uses one.",
            Severity.WARNING,
            ONE_EACH,
        )
    elif not named and "enabled" in modes and not _counted(gpus):
        weight = weigh_pace(NOT_COUNTED, baseline)
        summary, severity, fix = "MIG mode is on: a process gets one instance.", Severity.INFO, ONE_EACH
    elif count > 1 and not named and env is not None:
        weight = weigh_pace(FIRST_ONLY, baseline)
        summary, severity, fix = f"{count} MIG instances are here; this process gets one.", Severity.INFO, ONE_EACH
    else:
        if env is None:
            raise Skip(f"whether {NAME} is set is unknown")
        if not named and (not modes or None in modes):
            raise Inconclusive("the MIG mode of the GPUs is unknown")
        return
    yield Finding(
        summary=summary,
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="instances named", value=len(named), unit="instances", source=NAME),
            Evidence(label="instances there", value=count, unit="instances", source="NVML"),
        ),
        fixes=(fix,),
    )


def _counted(gpus: Gpus | None) -> bool:
    return gpus is not None and not all(isinstance(gpu.mig_instances, Missing) for gpu in gpus)


def _mode(gpu: Gpu) -> str | None:
    """Return the MIG mode, None where it is unknown; a GPU that has no such mode is not in it."""
    mode = gpu.mig_mode
    if isinstance(mode, Missing):
        return "disabled" if mode.reason.startswith("not_supported") else None
    return mode
