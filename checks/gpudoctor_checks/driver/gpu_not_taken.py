"""GD119: the driver is loaded and does not take a GPU that is on the PCI bus.

What it does
    Looks on the PCI bus for NVIDIA GPUs that the loaded nvidia module does not drive, and asks cuInit whether any GPU is
    left to use.

Why it matters
    A module refuses a GPU that it does not know: a new GPU under an old driver branch, an old GPU under a branch that has
    dropped it, or a GPU that wants the open module under the proprietary one. nvidia-smi then says "No devices were
    found" and cuInit "no CUDA-capable device", although a driver is installed and loaded. A GPU that is set apart for a
    virtual machine (vfio-pci) looks the same to CUDA.

How to fix
    The kernel log names the reason: sudo dmesg | grep NVRM. "not supported by the ... driver release": install the branch
    that knows the GPU; R580 knows all from Maxwell to Blackwell. "requires use of the NVIDIA open kernel modules":
    install the same driver with its open module. "RmInitAdapter failed": see to the firmware's settings Above 4G Decoding
    and Resizable BAR, to power and seating. Device nodes, CUDA and TensorFlow need no change.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Host,
    Kernel,
    NotApplicable,
    PciGpu,
    Severity,
    Trial,
    check,
    either,
    must_know,
    shown,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.driver.refused_boards import driver_for, reason_of

NOT_DRIVEN = 0.9  # sysfs names the driver of each device; a GPU being set up just now looks the same
LOOK = Fix(
    id="read-nvrm-lines",
    title="Read in the kernel log why it was refused",
    action="command",
    text="sudo dmesg | grep NVRM",
    gain=Gain(grade=Grade.UNPROVEN, basis="names the reason; changes nothing"),
    risk="none",
    effort_minutes=1,
)
GIVE_BACK = Fix(
    id="unbind-vfio",
    title="Is no virtual machine to have it? Give it back",
    action="manual",
    text="Remove vfio-pci.ids=... from the kernel's command line and from /etc/modprobe.d, then restart",
    gain=unblocks("the nvidia module can take the GPU"),
    risk="medium",
    effort_minutes=10,
)


@check(
    code="GD119",
    slug="gpu-not-taken",
    title="The driver does not take the GPU",
    family="driver",
    cause="kernel-module-not-loaded",
    core=False,
)
def refused(kernel: Kernel, cuda: Cuda | None, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Find boards that the loaded module leaves alone; a container's view of the bus says nothing of its GPUs."""
    if not must_know(kernel.module_loaded, "whether the nvidia module is loaded"):
        raise NotApplicable("no nvidia kernel module is loaded: see GD104")
    if host is not None and either(host.container, "none") != "none":
        raise NotApplicable("a container: what it may use is for GD106")
    boards = must_know(kernel.pci_gpus, "which GPUs are on the PCI bus")
    left = [each for each in boards if either(each.driver, "none") not in {"nvidia", "nouveau"}]
    if not left:
        return
    works = cuda is not None and either(cuda.cu_init, -1) == 0
    away = all(either(each.driver, "none") == "vfio-pci" for each in left)
    weight = weigh_unusable(NOT_DRIVEN, None if works else baseline)
    version = either(kernel.module_version, "unknown")
    why = reason_of(kernel, left)
    be = "is" if len(left) == 1 else "are"
    what = f"{be} set apart for a virtual machine" if away else f"{be} not taken by the loaded driver {version}"
    yield Finding(
        summary=f"{_named(left)} on the PCI bus {what}{f': {why}' if why and not away else ''}.",
        severity=Severity.INFO if away and works else Severity.WARNING if works else Severity.ERROR,
        confidence=weight.confidence,
        basis="sysfs; there are other GPUs" if works else weight.basis,
        evidence=(
            *(_shown(each) for each in left),
            Evidence(label="loaded module", value=f"{version}, {shown(kernel.flavour)}", source="/proc/driver/nvidia"),
            Evidence(label="cuInit", value=shown(cuda.cu_init) if cuda is not None else "not asked", source="libcuda"),
        ),
        fixes=(GIVE_BACK,) if away else (*driver_for(kernel, left, host), LOOK),
    )


def _named(boards: list[PciGpu]) -> str:
    return "A GPU" if len(boards) == 1 else f"{len(boards)} GPUs"


def _shown(board: PciGpu) -> Evidence:
    words = f"device {shown(board.device_id)}, driver {either(board.driver, 'none')}"
    return Evidence(label=board.address, value=words, source="sysfs")
