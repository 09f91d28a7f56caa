"""GD104: an NVIDIA GPU is there, but its kernel module is not loaded.

What it does
    Looks on the PCI bus for an NVIDIA GPU, in /proc for the nvidia module, and, where the module is missing, for the
    reason: nouveau holds the GPU, Secure Boot refuses the module, no module was built for the running kernel, or no
    driver is installed. On a machine without an NVIDIA GPU it says so, as information.

Why it matters
    Without the module there is no GPU for any program. nvidia-smi "couldn't communicate with the NVIDIA driver",
    cuInit finds no device, and TensorFlow trains on the CPU. It often begins with a kernel update: the module was
    built for the old kernel, or its new build is not signed.

How to fix
    nouveau holds the GPU: install the NVIDIA driver, keep nouveau from loading, rebuild the initramfs, reboot.
    Secure Boot: enrol the key that signs the module (mokutil --import), reboot and confirm in the blue screen.
    Module missing after a kernel update: install the headers of the running kernel and let DKMS build it.
    No driver: install one. In a container and on WSL the driver belongs to the host or to Windows, never inside.
    CUDA and TensorFlow have no part in this.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Host,
    Kernel,
    Missing,
    NotApplicable,
    Nvml,
    Severity,
    Skip,
    Trial,
    check,
    either,
    shown,
    weigh_unusable,
)
from gpudoctor_checks.driver.module_reasons import on_host, reason_of


@check(
    code="GD104",
    slug="kernel-module-not-loaded",
    title="The nvidia kernel module is not loaded",
    family="driver",
    cause="kernel-module-not-loaded",
)
def not_loaded(
    kernel: Kernel | None, nvml: Nvml | None, cuda: Cuda | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Say why the module is missing; an absent GPU is information, never an error."""
    if (cuda is not None and either(cuda.cu_init, -1) == 0) or (nvml is not None and either(nvml.status, "") == "ok"):
        return
    if kernel is None or isinstance(kernel.module_loaded, Missing):
        raise Skip("whether the kernel module is loaded is unknown")
    if host is not None and either(host.wsl, False):
        raise NotApplicable("on WSL the kernel module is on the Windows side")
    if kernel.module_loaded:
        return
    gpus = either(kernel.pci_gpus, None)
    in_container = host is not None and either(host.container, "none") != "none"
    if not gpus and in_container:
        raise NotApplicable("a container without any sign of a GPU")
    asked = nvml is not None and either(nvml.status, "") == "driver_not_loaded"
    if gpus is None and not asked:
        raise Skip("the PCI bus cannot be read, so whether there is a GPU is unknown")
    weight = weigh_unusable(0.6 if gpus is None else 0.95, baseline)
    why, fixes = reason_of(kernel, nvml, cuda, host)
    summary = f"The nvidia kernel module is not loaded: {why}."
    if gpus == ():
        summary = (
            "No NVIDIA GPU in this machine." if not asked else "A driver is installed, but no NVIDIA GPU is there."
        )
    yield Finding(
        summary=summary,
        severity=Severity.ERROR if gpus else Severity.WARNING if gpus is None else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="GPUs on the PCI bus", value=len(gpus) if gpus is not None else "unknown", source="sysfs"),
            Evidence(label="Secure Boot", value=shown(kernel.secure_boot), source="EFI variable"),
            Evidence(label="nouveau loaded", value=shown(kernel.nouveau_loaded), source="/proc/modules"),
            Evidence(label="nvidia loaded", value=False, source="/proc/modules"),
            Evidence(label="module for this kernel", value=shown(kernel.module_on_disk), source="/lib/modules"),
        ),
        fixes=() if gpus == () else tuple(on_host(fix) for fix in fixes) if in_container else fixes,
    )
