"""GD103: the driver's libraries and the loaded kernel module have different versions.

What it does
    Compares the version of the loaded nvidia kernel module with that of libcuda, and asks NVML and cuInit whether they
    accept each other.

Why it matters
    A driver has two halves, a kernel module and libraries, and both must be of exactly one version. Until they are, no
    program can use the GPU: nvidia-smi says "Driver/library version mismatch", TensorFlow's cuInit fails with 803 or
    with 804 (whose text about forward compatibility misleads), and training silently runs on the CPU. The usual reason
    is an unattended update: the files on disk are new, the module in memory is still the old one.

How to fix
    Reboot; that loads the module which belongs to the libraries. Without a reboot, stop everything that uses the GPU,
    the display server included, then
        sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia nvidia_uvm
    A container keeps the libraries it was started with: recreate it. An image must not bring its own libcuda
    (packages libcuda1, libnvidia-compute-*): the host's is mounted when the container starts.
    To prevent it, keep the nvidia packages out of unattended upgrades. CUDA and TensorFlow are not the fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Fix,
    Host,
    Kernel,
    Maybe,
    Missing,
    NotApplicable,
    Nvml,
    Severity,
    Skip,
    Trial,
    Weight,
    check,
    either,
    unblocks,
    versions,
    weigh_unusable,
)
from gpudoctor_checks.remedies import REBOOT

SYSTEM_DRIVER_MISMATCH = 803  # CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, cuda.h
FOREIGN = frozenset({"compat", "wsl", "stub"})  # libcuda of these origins never has the kernel module's number

RECREATE = Fix(
    id="recreate-container",
    title="Recreate the container with today's driver",
    action="manual",
    text="Remove the container and start it again with the same options (docker run --gpus all ...)",
    gain=unblocks("libraries and kernel module agree again"),
    effort_minutes=5,
)


@check(
    code="GD103",
    slug="driver-library-mismatch",
    title="Driver libraries and kernel module differ",
    family="driver",
    cause="driver-library-mismatch",
)
def mismatched(
    nvml: Nvml | None, cuda: Cuda | None, kernel: Kernel | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Believe what NVML or cuInit say; without them, compare the two version numbers."""
    module = _readable(kernel.module_version if kernel is not None else Missing("kernel not asked"))
    library = _readable(_library_version(cuda))
    nvml_status = either(nvml.status, "") if nvml is not None else ""
    cu_init = either(cuda.cu_init, -1) if cuda is not None else -1
    said = nvml_status == "version_mismatch" or (cu_init == SYSTEM_DRIVER_MISMATCH and isinstance(library, str))
    compared = isinstance(module, str) and isinstance(library, str)
    differ = isinstance(module, str) and isinstance(library, str) and versions.parse(module) != versions.parse(library)
    if not said and not differ:
        if not (compared or nvml_status == "ok" or cu_init == 0):
            raise _cannot_tell(kernel)
        return
    weight = weigh_unusable(0.97 if said else 0.85, baseline)
    if cu_init == 0:
        weight = Weight(confidence=0.9, basis="NVML's own answer or the version numbers; but cuInit succeeds")
    in_container = host is not None and either(host.container, "none") != "none"
    yield Finding(
        summary="A part of the driver does not fit the loaded kernel module, though CUDA still works."
        if cu_init == 0
        else f"Driver libraries ({either(library, 'another version')}) do not fit the loaded module "
        f"({either(module, 'unknown')}).",
        severity=Severity.WARNING if cu_init == 0 else Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="kernel module", value=either(module, "unknown"), source="/proc/driver/nvidia/version"),
            Evidence(label="libraries", value=either(library, "unknown"), source="libcuda file name"),
            Evidence(label="NVML", value=nvml_status or "not asked", source="nvmlInit"),
            Evidence(label="cuInit", value=cu_init if cu_init >= 0 else "not asked", source="libcuda"),
        ),
        fixes=(RECREATE, REBOOT) if in_container else (REBOOT,),
    )


def _library_version(cuda: Cuda | None) -> Maybe[str]:
    if cuda is None:
        return Missing("libcuda not asked")
    return Missing("not the driver's own libcuda") if either(cuda.origin, "driver") in FOREIGN else cuda.library_version


def _readable(version: Maybe[str]) -> Maybe[str]:
    """Return the version, missing where it is no number: two texts that cannot be read must not be called different."""
    if isinstance(version, str) and not versions.parse(version):
        return Missing(f"not a version: {version!r}")
    return version


def _cannot_tell(kernel: Kernel | None) -> Exception:
    if kernel is not None and either(kernel.module_loaded, None) is False:
        return NotApplicable("no nvidia kernel module is loaded")
    return Skip("neither NVML, cuInit nor two version numbers to compare")
