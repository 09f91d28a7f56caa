"""GD103: NVML's and cuInit's word counts before version numbers; foreign libcudas are not compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Cuda, Kernel, Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.driver_library_mismatch import mismatched
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, with_trial, without
from tests.checks.trials import broken, on_cpu, trained

HEALTHY = healthy_h100()
UPDATED = with_trial(
    changed(
        HEALTHY,
        nvml=Nvml(status="version_mismatch", message="Driver/library version mismatch", library_version="580.95.05"),
        cuda={"status": "error", "cu_init": 803, "cu_init_name": "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "devices": ()},
        kernel={"module_version": "580.82.07"},
    ),
    on_cpu(),
)
CASE = Case(
    check_code="GD103",
    fires=UPDATED,
    near_miss=HEALTHY,
    lacking=without(UPDATED, "nvml", "cuda"),
    trial_variants=(None, trained()),
)


def test_both_versions_are_named() -> None:
    (finding,) = judge(mismatched, UPDATED).findings
    assert "580.95.05" in finding.summary
    assert "580.82.07" in finding.summary
    assert finding.fixes[0].text == "sudo reboot"


def test_version_numbers_alone_are_enough_but_less_sure() -> None:
    by_numbers = with_trial(changed(without(UPDATED, "nvml"), cuda={"cu_init": 999}), None)
    (finding,) = judge(mismatched, by_numbers).findings
    assert finding.severity is Severity.ERROR
    assert finding.confidence < judge(mismatched, with_trial(UPDATED, None)).findings[0].confidence


@pytest.mark.parametrize("origin", ["compat", "wsl", "stub"])
def test_a_libcuda_that_never_has_the_modules_number_is_not_compared(origin: str) -> None:
    machine = changed(HEALTHY, cuda={"origin": origin, "library_version": "560.35.03"})
    assert judge(mismatched, machine).status is Outcome.PASSED


def test_cuinit_success_makes_it_no_more_than_a_warning() -> None:
    machine = changed(HEALTHY, nvml=Nvml(status="version_mismatch"))
    assert judge(mismatched, machine).findings[0].severity is Severity.WARNING


def test_a_container_is_recreated_before_anything_is_rebooted() -> None:
    (finding,) = judge(mismatched, changed(UPDATED, host={"container": "docker"})).findings
    assert finding.fixes[0].id == "recreate-container"


def test_without_a_kernel_module_there_is_nothing_to_mismatch() -> None:
    machine = replace(
        HEALTHY,
        nvml=Nvml(status="library_not_found"),
        cuda=Cuda(status="library_not_found"),
        kernel=Kernel(module_loaded=False, module_version=Missing("no module")),
    )
    assert judge(mismatched, machine).status is Outcome.PASSED


def test_a_probe_that_crashed_makes_it_surer() -> None:
    sure = judge(mismatched, with_trial(UPDATED, broken())).findings[0].confidence
    assert sure > judge(mismatched, with_trial(UPDATED, None)).findings[0].confidence


@pytest.mark.parametrize("text", ["..", "-1", "unknown"])
def test_a_version_that_cannot_be_read_differs_from_nothing(text: str) -> None:
    for machine in (
        changed(healthy_h100(), cuda={"library_version": text}),
        changed(healthy_h100(), kernel={"module_version": text}),
    ):
        assert judge(mismatched, machine).status is Outcome.PASSED
    blind = changed(
        healthy_h100(), cuda={"library_version": text, "cu_init": Missing("timeout")}, nvml={"status": "timeout"}
    )
    assert judge(mismatched, blind).status is Outcome.SKIPPED
