"""Why a kernel module is not loaded, from what the disk, the firmware and the other modules show, and the cure of each."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import Cuda, Fix, Host, Kernel, Nvml, either, unblocks
from gpudoctor_checks.remedies import install_driver


def _fix(name: str, title: str, text: str, minutes: float) -> Fix:
    gain = unblocks("no program can use the GPU before the module is loaded")
    return Fix(id=name, title=title, action="command", text=text, gain=gain, effort_minutes=minutes, risk="medium")


NOUVEAU = _fix(
    "blacklist-nouveau",
    "Keep nouveau from taking the GPU, then reboot",
    "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf && "
    "(sudo update-initramfs -u || sudo dracut --force) && sudo reboot",
    10,
)
ENROL_KEY = _fix(
    "enrol-module-key",
    "Enrol the module's key for Secure Boot",
    "sudo mokutil --import /var/lib/shim-signed/mok/MOK.der && sudo reboot",
    10,
)
LOAD = _fix("load-kernel-module", "Load the module", "sudo modprobe nvidia", 1)


def reason_of(kernel: Kernel, nvml: Nvml | None, cuda: Cuda | None, host: Host | None) -> tuple[str, tuple[Fix, ...]]:
    """Return why the module is missing, and what to do, the first thing first."""
    on_disk = either(kernel.module_on_disk, None)
    nouveau = either(kernel.nouveau_loaded, False)
    libraries = (nvml is not None and either(nvml.status, "") not in {"", "library_not_found"}) or (
        cuda is not None and isinstance(cuda.libcuda_path, str)
    )
    install = install_driver((), host)
    if on_disk:
        if nouveau:
            return "nouveau holds the GPU", (NOUVEAU,)
        if either(kernel.secure_boot, False):
            return "Secure Boot refuses it, its key is not enrolled", (ENROL_KEY,)
        return "it lies ready for this kernel", (LOAD,)
    if libraries:
        return "no module was built for the running kernel", (_build(host),)
    if nouveau:
        after = replace(
            NOUVEAU, effort_minutes=install.effort_minutes + NOUVEAU.effort_minutes
        )  # the driver comes first
        return "no NVIDIA driver is installed, and nouveau holds the GPU", (install, after)
    return "no NVIDIA driver is installed", (install,)


def on_host(fix: Fix) -> Fix:
    """Return the fix as one for the host of this container."""
    return replace(fix, title=f"On the host: {fix.title}")


def _build(host: Host | None) -> Fix:
    system = either(host.distribution, "").lower() if host is not None else ""
    by_dnf = system.startswith(("red hat", "rhel", "rocky", "almalinux", "centos", "fedora"))
    headers = "dnf install kernel-devel-$(uname -r)" if by_dnf else "apt install linux-headers-$(uname -r)"
    return _fix(
        "build-kernel-module",
        "Build the module for the running kernel",
        f"sudo {headers} && sudo dkms autoinstall && sudo modprobe nvidia",
        10,
    )
