"""Whether a GPU is there at all: without one, a missing library or a CPU build is no trouble.

Three answers, not two: a GPU that nobody could look for is not "no GPU".
"""

from __future__ import annotations

from gpudoctor.sdk import Driver, Kernel, Missing, either


def gpu_present(driver: Driver | None, kernel: Kernel | None) -> bool | None:
    """Return True (usable, or on the PCI bus), False (looked for, none), None (unknown)."""
    usable = either(driver.usable, None) if driver is not None else None
    on_bus = either(kernel.pci_gpus, None) if kernel is not None else None
    if usable or on_bus:
        return True
    if usable is False and on_bus is not None and driver is not None and isinstance(driver.version, Missing):
        return False
    return None
