"""GD804: the PCIe link of a GPU runs below its width or generation while the GPU works.

What it does
    Compares NVML's present link width and generation with the most that this GPU and this slot can do together. It
    judges under load only: an idle GPU lowers its link on purpose, to save power.

Why it matters
    Batches travel to the GPU over this link, and gradients between GPUs that have no NVLink. A board that is not seated
    well, a riser, or a slot that shares its lanes leaves a half or a quarter of the rate. Training that keeps its data
    on the GPU hardly feels it; large batches and several GPUs do.

How to fix
    Look at the link under load with the command below. Then: seat the board anew, change or remove the riser, clean the
    contacts, use the slot that is wired to the CPU with all lanes, and look in the firmware for lane sharing with
    M.2 disks. In a virtual machine the numbers are the hypervisor's.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Finding,
    Fix,
    Gain,
    Gpu,
    Gpus,
    Grade,
    Inconclusive,
    Limits,
    Severity,
    Threshold,
    Trial,
    check,
    either,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.usage import weigh_pace

AT_WORK = Threshold(
    name="at_work_percent",
    default=5.0,
    unit="%",
    meaning="a GPU busier than this is judged; below it the link may rest",
    source="policy: the same load makes a GPU busy for the probe",
    most=100.0,
)
READ = 0.8  # one reading under load


@check(
    code="GD804",
    slug="pcie-degraded",
    title="The PCIe link runs below its width",
    family="hardware",
    cause="pcie-degraded",
    core=False,
    thresholds=(AT_WORK,),
)
def degraded(gpus: Gpus, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Judge GPUs that work now; of an idle one nothing can be said."""
    working = [gpu for gpu in gpus if _works(gpu, limits.of(AT_WORK))]
    found = [gpu for gpu in working if _below(gpu)]
    weight = weigh_pace(READ, baseline)
    for gpu in found:
        link = gpu.pcie
        yield Finding(
            subject=f"GPU {gpu.index}",
            summary=f"GPU {gpu.index}: PCIe at {_told(link.gen, link.width)} of {_told(link.gen_max, link.width_max)}.",
            severity=Severity.WARNING,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=known(
                "NVML",
                ("width", link.width, "lanes"),
                ("at most", link.width_max, "lanes"),
                ("generation", link.gen, ""),
                ("highest", link.gen_max, ""),
                ("busy", gpu.utilization.gpu_percent, "%"),
            ),
            fixes=(_watch(gpu.index),),
        )
    if not found and (not working or not all(_link_known(gpu) for gpu in working)):
        raise Inconclusive("no GPU works now, and an idle link rests" if not working else "the link is not told")


def _works(gpu: Gpu, busy_percent: float) -> bool:
    idle = "GpuIdle" in either(gpu.throttle_reasons, ())
    return not idle and either(gpu.utilization.gpu_percent, 0) > busy_percent


def _link_known(gpu: Gpu) -> bool:
    link = gpu.pcie
    return all(either(each, 0) for each in (link.width, link.width_max, link.gen, link.gen_max))


def _below(gpu: Gpu) -> bool:
    link = gpu.pcie
    return _link_known(gpu) and (
        either(link.width, 0) < either(link.width_max, 0) or either(link.gen, 0) < either(link.gen_max, 0)
    )


def _told(generation: object, width: object) -> str:
    return f"gen {generation} x{width}"


def _watch(index: int) -> Fix:
    return Fix(
        id=f"watch-pcie-{index}",
        title="Watch the link under load; see to the slot",
        action="command",
        text=f"timeout 60 nvidia-smi -i {index} -l 5 --format=csv"
        " --query-gpu=pcie.link.gen.current,pcie.link.width.current,utilization.gpu",
        gain=Gain(grade=Grade.UNPROVEN, basis="how much your training moves over the link was not measured"),
        risk="none",
        effort_minutes=10,
    )
