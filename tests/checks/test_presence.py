"""Three answers to "is there a GPU?": yes, no, and nobody could look."""

from __future__ import annotations

import pytest

from gpudoctor.model.machine import Kernel, PciGpu
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.views import Driver
from gpudoctor_checks.presence import gpu_present

NO_DRIVER = Driver(usable=False, version=Missing("no driver found"))
BROKEN_DRIVER = Driver(usable=False, version="580.95.05")
BUS = (PciGpu(address="0000:01:00.0"),)


@pytest.mark.parametrize(
    ("driver", "on_bus", "expected"),
    [
        (Driver(usable=True), Missing("no sysfs"), True),
        (Driver(usable=True), (), True),
        (NO_DRIVER, BUS, True),
        (NO_DRIVER, (), False),
        (NO_DRIVER, Missing("no sysfs"), None),
        (BROKEN_DRIVER, (), None),
        (Driver(usable=Missing("timeout")), (), None),
        (None, (), None),
    ],
)
def test_absence_needs_a_look_at_both_places(
    driver: Driver | None, on_bus: Maybe[tuple[PciGpu, ...]], expected: bool | None
) -> None:
    assert gpu_present(driver, Kernel(pci_gpus=on_bus)) is expected


def test_without_a_kernel_group_only_a_usable_driver_proves_anything() -> None:
    assert gpu_present(Driver(usable=True), None) is True
    assert gpu_present(NO_DRIVER, None) is None
