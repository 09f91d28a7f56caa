"""GD804: the PCIe link of a GPU runs below its width or generation while data moves over it.

What it does
    Has the probe copy data to the GPU (trial `transfer`) and looks at the link meanwhile, several times a second: the best
    width and generation seen are compared with the most that this GPU and this slot can do together. An idle GPU lowers
    its link on purpose, to save power, so nothing that was seen at idle counts, and no load of others either.

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

from collections.abc import Iterator, Mapping

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Inconclusive,
    Limits,
    Severity,
    Threshold,
    Trial,
    check,
)

AT_WORK = Threshold(
    name="at_work_percent",
    default=5.0,
    unit="%",
    meaning="a link that moves less than this part of what it could is not under load and not judged",
    source="policy: copies from ordinary memory reach a third of a link's rate or more",
    most=100.0,
)
# Bytes per second of one lane by generation: PCI Express Base Specification, 2.5 to 64 GT/s less the coding.
LANE_BYTES_PER_S = {1: 250e6, 2: 500e6, 3: 984.6e6, 4: 1969e6, 5: 3938e6, 6: 7563e6}
MEASURED = 0.9  # the link was seen while the probe itself moved data; a hypervisor's figures stay possible
FEWEST_LOOKS = 3  # policy: the first may come before the link is up
LINK = ("pcie_gen", "pcie_gen_max", "pcie_width", "pcie_width_max")


@check(
    code="GD804",
    slug="pcie-degraded",
    title="The PCIe link runs below its width",
    family="hardware",
    cause="pcie-degraded",
    trials=("transfer",),
    core=False,
    thresholds=(AT_WORK,),
)
def degraded(transfer: Trial | None, limits: Limits) -> Iterator[Finding]:
    """Judge the link that moved the probe's data; of an idle one nothing can be said."""
    if transfer is None:
        raise Inconclusive("no data was moved over the link, and an idle link rests")
    if transfer.status != "ok" or transfer.device != "GPU":
        raise Inconclusive(transfer.reason or f"the copies are {transfer.status}, on the {transfer.device}")
    seen = transfer.values
    if seen.get("link_samples", 0) < FEWEST_LOOKS or any(name not in seen for name in LINK):
        raise Inconclusive("NVML did not tell the link while data moved over it")
    gen, width = seen["pcie_gen"], seen["pcie_width"]
    if _rate(seen) < limits.of(AT_WORK) / 100 * width * LANE_BYTES_PER_S.get(int(gen), LANE_BYTES_PER_S[6]):
        raise Inconclusive("too little data moved to call it load")
    if gen >= seen["pcie_gen_max"] and width >= seen["pcie_width_max"]:
        return
    index = int(seen.get("gpu_index", 0))
    yield Finding(
        subject=f"GPU {index}",
        summary=f"GPU {index}: PCIe at gen {gen:.0f} x{width:.0f} of"
        f" gen {seen['pcie_gen_max']:.0f} x{seen['pcie_width_max']:.0f}.",
        severity=Severity.WARNING,
        confidence=MEASURED,
        basis=f"the best of {seen['link_samples']:.0f} looks while the probe copied to the GPU",
        evidence=tuple(_evidence(seen)),
        fixes=(_watch(index),),
    )


def _rate(seen: Mapping[str, float]) -> float:
    return max(seen.get("host_to_device_bytes_per_s", 0.0), seen.get("pcie_received_bytes_per_s", 0.0))


def _evidence(seen: Mapping[str, float]) -> Iterator[Evidence]:
    labels = ("generation under load", "highest", "width under load", "at most")
    for label, name, unit in zip(labels, LINK, ("", "", "lanes", "lanes"), strict=True):
        yield Evidence(label=label, value=seen[name], unit=unit, source="NVML, while trial transfer ran")
    yield Evidence(label="copied each second", value=_rate(seen), unit="bytes", source="probe, trial transfer")


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
