"""GD702: what is known to stop several GPUs: little shared memory, an IOMMU between them, direct paths switched off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.distribution.multi_gpu_hang import may_hang
from tests.checks.case import Case
from tests.checks.machines import GIB, MIB, changed, healthy_h100, make_gpu, make_machine, on_cpu, with_env


def a_pair(*, shm_bytes: Maybe[int] = 64 * GIB, iommu: Maybe[str] = "none") -> Snapshot:
    machine = make_machine((make_gpu(0), make_gpu(1)))
    assert machine.kernel is not None
    assert isinstance(machine.kernel.pci_gpus, tuple)
    boards = tuple(replace(each, iommu=iommu) for each in machine.kernel.pci_gpus)
    return changed(machine, host={"shm_bytes": shm_bytes}, kernel={"pci_gpus": boards})


LITTLE = a_pair(shm_bytes=64 * MIB)
CASE = Case(
    check_code="GD702",
    fires=LITTLE,
    near_miss=a_pair(),
    lacking=a_pair(shm_bytes=Missing("cannot be asked")),
    trial_variants=(None, on_cpu()),
)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("docker", "--shm-size=8g"), ("podman", "podman run"), ("kubernetes", "emptyDir"), ("none", "remount")],
)
def test_dockers_default_of_shared_memory_is_a_warning_with_the_cure_of_its_kind(kind: str, words: str) -> None:
    (finding,) = judge(may_hang, changed(LITTLE, host={"container": kind})).findings
    assert (finding.severity, words in finding.fixes[0].text) == (Severity.WARNING, True)


def test_an_iommu_that_translates_is_a_note_and_one_that_passes_through_is_none() -> None:
    (finding,) = judge(may_hang, a_pair(iommu="DMA-FQ")).findings
    assert (finding.severity, finding.fixes[0].id) == (Severity.INFO, "iommu-pass-through")
    assert judge(may_hang, a_pair(iommu="identity")).status is Outcome.PASSED


def test_direct_paths_that_are_switched_off_are_named() -> None:
    (finding,) = judge(may_hang, with_env(a_pair(), NCCL_P2P_DISABLE="1")).findings
    assert finding.fixes[0].text == "unset NCCL_P2P_DISABLE"


def test_an_unknown_iommu_is_no_pass() -> None:
    assert judge(may_hang, a_pair(iommu=Missing("unreadable"))).status is Outcome.INCONCLUSIVE


def test_one_gpu_cannot_hang_on_another() -> None:
    assert judge(may_hang, changed(healthy_h100(), host={"shm_bytes": 64 * MIB})).status is Outcome.PASSED
