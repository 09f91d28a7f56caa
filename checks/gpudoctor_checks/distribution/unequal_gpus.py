"""GD701: the visible GPUs differ, so one synchronous training waits for the slowest of them.

What it does
    Compares model, compute capability and memory of the GPUs that CUDA shows to a program.

Why it matters
    MirroredStrategy gives each GPU an equal share of every batch and waits for all of them before the next step. The
    slowest GPU sets the pace of all; the one with the least memory bounds the batch of all. Memory size alone makes
    nothing slower. Without a strategy TensorFlow trains on the first GPU, which need not be the fastest.

How to fix
    Use equal ones together: name them in CUDA_VISIBLE_DEVICES, or in MirroredStrategy(devices=[...]). Put the other GPU
    to work on a training of its own. CUDA numbers the fastest first; with CUDA_DEVICE_ORDER=PCI_BUS_ID the numbers are
    those of nvidia-smi.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Devices,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    NotApplicable,
    Severity,
    Trial,
    check,
    either,
)
from gpudoctor_checks.usage import weigh_pace

DIFFER = 0.8  # the models differ for certain; whether one training uses them together was not seen


@check(
    code="GD701",
    slug="unequal-gpus",
    title="The visible GPUs are unequal",
    family="distribution",
    cause="unequal-gpus",
    core=False,
)
def unequal(devices: Devices, cuda: Cuda | None, baseline: Trial | None) -> Iterator[Finding]:
    """Tell models that differ, and equal models whose memory differs."""
    if len(devices.names) < 2:
        raise NotApplicable("one GPU")
    sizes = _sizes(cuda)
    models = Counter(zip(devices.names, devices.compute_capabilities, strict=True))
    if len(models) == 1 and len({round(size / 2**30) for size in sizes}) < 2:
        return
    weight = weigh_pace(DIFFER, baseline)
    if len(models) > 1:
        words = " and ".join(sorted({name.removeprefix("NVIDIA ") for name in devices.names})[:2])
        summary = f"The visible GPUs differ ({words}): together they wait for the slowest."
    else:
        summary = f"The visible GPUs differ in memory: the batch is bound by {min(sizes) / 2**30:.0f} GiB."
    yield Finding(
        summary=summary,
        severity=Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *(
                Evidence(label=name, value=f"{count} of cc {cc // 10}.{cc % 10}", source="libcuda")
                for (name, cc), count in models.items()
            ),
            *(Evidence(label="least memory", value=size, unit="bytes", source="libcuda") for size in sorted(sizes)[:1]),
        ),
        fixes=(_choose(devices),),
    )


def _sizes(cuda: Cuda | None) -> list[int]:
    listed = either(cuda.devices, ()) if cuda is not None else ()
    return [size for each in listed if (size := either(each.memory_bytes, 0))]


def _choose(devices: Devices) -> Fix:
    """Name the largest group of equal GPUs, in CUDA's own numbers."""
    most = Counter(devices.names).most_common(1)[0][0]
    numbers = ",".join(str(index) for index, name in enumerate(devices.names) if name == most)
    return Fix(
        id="use-equal-gpus",
        title="Train on equal GPUs together",
        action="setting",
        text=f"export CUDA_VISIBLE_DEVICES={numbers}",
        gain=Gain(grade=Grade.UNPROVEN, basis="how much faster the others are was not measured"),
        effort_minutes=1,
    )
