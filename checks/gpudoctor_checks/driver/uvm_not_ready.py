"""GD109: the nvidia_uvm module or a device node is missing or broken.

What it does
    Where the driver is loaded but cuInit fails, looks for the nvidia_uvm module and for the device nodes /dev/nvidia0,
    /dev/nvidiactl and /dev/nvidia-uvm, which nvidia-modprobe makes on first use.

Why it matters
    CUDA needs nvidia_uvm (unified memory); nvidia-smi does not. So nvidia-smi shows a healthy GPU while TensorFlow
    says "failed call to cuInit: CUDA_ERROR_UNKNOWN" and trains on the CPU. It is common after a laptop wakes from sleep
    and where nvidia-modprobe is not installed.

How to fix
    After sleep: end the programs that use CUDA, then reload the module
        sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm
    (this does not touch the display; unloading nvidia_drm would) or reboot. Module or node missing:
        sudo nvidia-modprobe -c 0 -u
    In a container: do this on the host, then recreate the container.
    Neither CUDA nor TensorFlow is at fault, and root rights for training are no cure.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    DeviceNode,
    Evidence,
    Finding,
    Fix,
    Gpus,
    Host,
    Inconclusive,
    Kernel,
    Missing,
    NotApplicable,
    Severity,
    Trial,
    check,
    either,
    must_know,
    shown,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.presence import why_dead

UNKNOWN = 999  # CUDA_ERROR_UNKNOWN, cuda.h
NEEDED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm")
RELOAD = Fix(
    id="reload-uvm",
    title="End CUDA programs and reload nvidia_uvm",
    action="command",
    text="sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
    gain=unblocks("cuInit needs a working nvidia_uvm"),
    effort_minutes=1,
)
MAKE_NODES = Fix(
    id="make-device-nodes",
    title="Load nvidia_uvm and make its device nodes",
    action="command",
    text="sudo nvidia-modprobe -c 0 -u",
    gain=unblocks("cuInit needs nvidia_uvm and the device nodes"),
    effort_minutes=1,
)


@check(
    code="GD109",
    slug="uvm-not-ready",
    title="nvidia_uvm is missing or broken",
    family="driver",
    cause="uvm-not-ready",
)
def not_ready(
    kernel: Kernel, cuda: Cuda, gpus: Gpus | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Judge only where the module is loaded, cuInit fails, and no GPU is known to be dead."""
    if either(cuda.cu_init, -1) == 0:
        return
    if not must_know(kernel.module_loaded, "whether the nvidia module is loaded"):
        raise NotApplicable("no nvidia kernel module is loaded")
    if isinstance(cuda.cu_init, Missing):
        if either(cuda.status, "") == "library_not_found":
            raise NotApplicable("there is no libcuda")
        raise Inconclusive(f"cuInit did not answer: {cuda.cu_init.reason}")
    if dead := why_dead(gpus, kernel):
        raise NotApplicable(dead)
    if either(kernel.pci_gpus, None) == () and not (host is not None and either(host.arch, "") == "aarch64"):
        raise NotApplicable("there is no GPU on the PCI bus")  # a Jetson has one that is not on it
    in_container = host is not None and either(host.container, "none") != "none"
    nodes = either(kernel.device_nodes, None)
    if in_container and not nodes:
        raise NotApplicable("a container without device nodes: see GD106")
    absent = _absent_nodes(nodes)
    no_module = either(kernel.uvm_loaded, True) is False
    if cuda.cu_init != UNKNOWN and not absent:
        return
    weight = weigh_unusable(0.95 if no_module or absent else 0.8, baseline)
    what = "nvidia_uvm is not loaded" if no_module else "nvidia_uvm is broken"
    if absent:
        what = f"{', '.join(absent)} missing"
    yield Finding(
        summary=f"cuInit fails ({cuda.cu_init}) though the driver is loaded: {what}.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="cuInit", value=cuda.cu_init, unit=either(cuda.cu_init_name, ""), source="libcuda"),
            Evidence(label="nvidia_uvm loaded", value=shown(kernel.uvm_loaded), source="/proc/modules"),
            Evidence(label="missing nodes", value=", ".join(absent) or "none", source="/dev"),
        ),
        fixes=(MAKE_NODES,) if absent or no_module else (RELOAD,),
    )


def _absent_nodes(nodes: tuple[DeviceNode, ...] | None) -> list[str]:
    if nodes is None:
        return []
    present = {each.path for each in nodes}
    absent = [path for path in NEEDED_NODES if path not in present]
    return absent if any(path.removeprefix("/dev/nvidia").isdigit() for path in present) else ["/dev/nvidia0", *absent]
