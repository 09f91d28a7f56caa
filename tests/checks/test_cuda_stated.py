"""GD257: majors are compared."""

from __future__ import annotations

from gpudoctor.model.snapshot import Snapshot
from gpudoctor_checks.libraries.cuda_stated import another_cuda
from tests.checks.case import Case
from tests.checks.texts import UNUSABLE, a_text, found

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
