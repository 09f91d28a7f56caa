"""GD257: majors are compared."""

from __future__ import annotations

from gpudoctor.model.snapshot import Snapshot
from gpudoctor_checks.libraries.cuda_stated import another_cuda
from tests.checks.case import Case
from tests.checks.texts import UNUSABLE, a_text, found, nothing

CASE = Case(
    check_code="GD257",
    fires=a_text("Epoch 1/2", tf="2.11.0", cuda="12.0"),
    near_miss=a_text("Epoch 1/2", tf="2.11.0", cuda="11.8"),
    lacking=Snapshot(),
    trial_variants=UNUSABLE,
)


def test_cuda_12_beside_a_build_for_cuda_11() -> None:
    finding = found(another_cuda, "Epoch 1/2", tf="2.11.0", cuda="12.0", os="WSL2")
    assert (finding.cause, finding.fixes[0].id) == ("missing-cuda-libs", "install-matching-cuda")


def test_cuda_10_is_named_by_both_numbers() -> None:
    seen = "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    finding = found(another_cuda, seen, tf="2.1.0", cuda="10.2.89", os="Windows 10")
    assert "built for CUDA 10.1" in finding.summary
    assert [each.id for each in finding.fixes] == ["install-matching-cuda"]
    assert nothing(another_cuda, tf="2.1.0", cuda="10.2.89")
