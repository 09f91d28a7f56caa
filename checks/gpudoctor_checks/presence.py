"""Whether a GPU is there at all: without one, a missing library or a CPU build is no trouble.

Three answers, not two: a GPU that nobody could look for is not "no GPU".
"""

from __future__ import annotations

from gpudoctor.sdk import Driver, Gpus, Kernel, Missing, either

FELL_OFF_THE_BUS = 79  # NVIDIA Xid catalog
DEAD = frozenset({"gpu_lost", "reset_required"})  # NVML's answers


def gpu_present(driver: Driver | None, kernel: Kernel | None) -> bool | None:
    """Return True (usable, or on the PCI bus), False (looked for, none), None (unknown)."""
    usable = either(driver.usable, None) if driver is not None else None
    on_bus = either(kernel.pci_gpus, None) if kernel is not None else None
    if usable or on_bus:
        return True
    if usable is False and on_bus is not None and driver is not None and isinstance(driver.version, Missing):
        return False
    return None


def why_dead(gpus: Gpus | None, kernel: Kernel | None) -> str:
    """Return what tells that a GPU is dead, which explains that CUDA does not start; '' where nothing does."""
    if gpus is not None and any(gpu.status in DEAD for gpu in gpus):
        return "a GPU is lost, which explains cuInit"
    if kernel is not None and any(xid.code == FELL_OFF_THE_BUS for xid in either(kernel.xids, ())):
        return "the kernel log says that a GPU fell off the bus"
    return ""
