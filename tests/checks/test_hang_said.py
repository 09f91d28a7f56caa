"""GD751: the kernel proves it, silence makes it likely."""

from __future__ import annotations

from gpudoctor_checks.distribution.hang_said import hang
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD751", "DMAR: DRHD: handling fault status reg 502", variants=FAULTY)


def test_faults_of_the_iommu() -> None:
    finding = found(hang, "AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0014 address=0xd0000000 flags=0x0020]")
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "nccl-p2p-off")


def test_an_nccl_that_hangs() -> None:
    finding = found(hang, "Epoch 1/2", tf="2.0.0-alpha0 (NCCL 2.3.5-5)")
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "upgrade-nccl")
