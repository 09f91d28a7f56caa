"""GD121: a GPU is there, and CUDA cannot start.

What it does
    Asks the driver itself (cuInit) and, where that fails, whether NVML or the PCI bus shows an NVIDIA GPU. It names the
    error's number and what it means, whatever the number is.

Why it matters
    cuInit is the first call of every CUDA program. Where it fails, nvidia-smi may still show a healthy GPU, but
    TensorFlow prints "failed call to cuInit" and trains on the CPU.

How to fix
    Where a check knows the reason (a hidden GPU, nvidia_uvm, two versions of the driver), it stands above this one.
    Else the number leads: 802 on machines with NVSwitch means that the fabric manager does not run, 2 that memory is
    short, 46 that the compute mode refuses another process, 34 that a stub is loaded. For every other number the kernel
    log tells more: sudo dmesg | grep NVRM. CUDA toolkit and TensorFlow have no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Gpus,
    Host,
    Inconclusive,
    Kernel,
    NotApplicable,
    Nvml,
    Severity,
    Trial,
    check,
    either,
    must_know,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuda_errors import UNKNOWN_NUMBER, error, fixes

CALL_FAILED = 0.9  # the return value itself; what is left is a GPU that is kept from us on purpose


@check(
    code="GD121",
    slug="cuda-init-failed",
    title="CUDA cannot start",
    family="driver",
    cause="cuda-init-failed",
)
def cannot_start(
    cuda: Cuda,
    gpus: Gpus | None,
    nvml: Nvml | None,
    kernel: Kernel | None,
    host: Host | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find every failure of cuInit beside a GPU; a machine without one has no CUDA to start."""
    if either(cuda.status, "") == "library_not_found":
        raise NotApplicable("there is no libcuda to ask")
    code = must_know(cuda.cu_init, "what cuInit says")
    if code == 0:
        return
    listed, on_bus = _listed(gpus, nvml), _on_bus(kernel)
    container = host is not None and either(host.container, "none") != "none"
    if not listed and container and not either(kernel.device_nodes if kernel is not None else (), ()):
        raise NotApplicable("a container that was given no GPU")
    if not listed and not on_bus:
        if listed is None and on_bus is None:
            raise Inconclusive(f"cuInit fails with {code}, and whether there is a GPU is unknown")
        raise NotApplicable("there is no GPU")
    told = error(code)
    name = either(cuda.cu_init_name, "") or told.name
    weight = weigh_unusable(CALL_FAILED, baseline)
    yield Finding(
        summary=f"CUDA cannot start: cuInit fails with {code}"
        + ("" if told is UNKNOWN_NUMBER else f", {told.meaning}")
        + ".",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="cuInit", value=code, unit=name, source="libcuda"),
            Evidence(label="it means", value=told.meaning, source="cuda.h"),
            Evidence(label="libcuda", value=either(cuda.libcuda_path, "unknown"), source="loader"),
            Evidence(label="NVML lists", value="unknown" if listed is None else listed, unit="GPUs", source="NVML"),
            Evidence(
                label="GPUs on the PCI bus", value="unknown" if on_bus is None else on_bus, unit="GPUs", source="sysfs"
            ),
        ),
        fixes=fixes(code),
    )


def _listed(gpus: Gpus | None, nvml: Nvml | None) -> int | None:
    count = either(nvml.device_count, None) if nvml is not None else None
    return max(len(gpus), count or 0) if gpus is not None else count


def _on_bus(kernel: Kernel | None) -> int | None:
    boards = either(kernel.pci_gpus, None) if kernel is not None else None
    return None if boards is None else len(boards)
