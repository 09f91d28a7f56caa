"""GD119: a board on the bus that the loaded module leaves alone, and what the module's version says about the cure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.gpu_not_taken import refused
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, make_gpu, make_machine, on_cpu, trained, with_trial

NONE = Missing("none")


def with_board(
    driver: Maybe[str], *, module: str = "550.163.01", flavour: str = "proprietary", works: bool = False
) -> Snapshot:
    machine = make_machine((make_gpu(0), make_gpu(1))) if works else healthy_h100()
    assert machine.kernel is not None
    assert isinstance(machine.kernel.pci_gpus, tuple)
    boards = (*machine.kernel.pci_gpus[:-1], replace(machine.kernel.pci_gpus[-1], driver=driver, device_id="0x2b85"))
    kernel = {"pci_gpus": boards, "module_version": module, "flavour": flavour}
    if works:
        return changed(machine, kernel=kernel)
    cuda = {"cu_init": 100, "cu_init_name": "CUDA_ERROR_NO_DEVICE", "devices": NONE}
    return with_trial(changed(machine, kernel=kernel, cuda=cuda, gpus=()), on_cpu())


REFUSED = with_board(NONE)
CASE = Case(
    check_code="GD119",
    fires=REFUSED,
    near_miss=with_board("nvidia"),
    lacking=changed(REFUSED, kernel={"pci_gpus": Missing("unreadable")}),
    trial_variants=(None, trained()),
)


@pytest.mark.parametrize(
    ("module", "flavour", "fixes"),
    [
        ("550.163.01", "proprietary", ["install-driver", "read-nvrm-lines"]),
        ("580.95.05", "proprietary", ["open-kernel-module", "read-nvrm-lines"]),
        ("580.95.05", "open", ["read-nvrm-lines"]),
        ("590.48.01", "open", ["install-driver", "read-nvrm-lines"]),
    ],
)
def test_the_loaded_branch_decides_the_cure(module: str, flavour: str, fixes: list[str]) -> None:
    (finding,) = judge(refused, with_board(NONE, module=module, flavour=flavour)).findings
    assert finding.severity is Severity.ERROR
    assert [fix.id for fix in finding.fixes] == fixes


def test_beside_a_gpu_that_works_it_is_a_warning_and_a_virtual_machines_gpu_a_note() -> None:
    (finding,) = judge(refused, with_board(NONE, works=True)).findings
    assert finding.severity is Severity.WARNING
    (finding,) = judge(refused, with_board("vfio-pci", works=True)).findings
    assert (finding.severity, finding.fixes[0].id) == (Severity.INFO, "unbind-vfio")


def test_a_container_and_a_module_that_is_not_loaded_are_for_other_checks() -> None:
    assert judge(refused, changed(REFUSED, host={"container": "docker"})).status is Outcome.PASSED
    assert judge(refused, changed(REFUSED, kernel={"module_loaded": False})).status is Outcome.PASSED


@pytest.mark.parametrize(
    ("module", "flavour", "board", "words", "fix"),
    [
        ("580.95.05", "open", "0x1b06", "the open module drives Turing and newer only", "proprietary-kernel-module"),
        ("580.95.05", "open", "0x1db4", "the open module drives Turing and newer only", "proprietary-kernel-module"),
        ("590.48.01", "proprietary", "0x1db4", "R590 and newer do not drive Volta", "install-driver"),
        ("580.95.05", "open", "0x1e02", "not taken by the loaded driver 580.95.05.", "read-nvrm-lines"),
        ("580.95.05", "proprietary", "0x1db4", "not taken by the loaded driver 580.95.05.", "read-nvrm-lines"),
    ],
)
def test_which_of_the_two_reasons_it_is_stands_in_the_summary(
    module: str, flavour: str, board: str, words: str, fix: str
) -> None:
    machine = with_board(NONE, module=module, flavour=flavour)
    assert machine.kernel is not None
    assert isinstance(machine.kernel.pci_gpus, tuple)
    boards = tuple(replace(each, device_id=board) for each in machine.kernel.pci_gpus)
    (finding,) = judge(refused, changed(machine, kernel={"pci_gpus": boards})).findings
    assert words in finding.summary
    assert finding.fixes[0].id == fix
