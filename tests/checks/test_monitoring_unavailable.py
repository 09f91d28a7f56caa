"""GD107: where cuInit succeeds only the figures are missing; never "no driver"."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Nvml
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.monitoring_unavailable import no_figures
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, with_trial, without
from tests.checks.trials import on_cpu, trained

LOST = with_trial(
    changed(
        healthy_h100(),
        host={"container": "docker"},
        nvml=Nvml(status="unknown_error", message="Unknown Error"),
        cuda={"status": "error", "cu_init": 100, "cu_init_name": "CUDA_ERROR_NO_DEVICE", "devices": ()},
        gpus=None,
    ),
    on_cpu(),
)
CASE = Case(
    check_code="GD107",
    fires=LOST,
    near_miss=healthy_h100(),
    lacking=without(LOST, "nvml"),
    trial_variants=(None, trained()),
)


def test_a_container_that_lost_its_gpu_is_recreated() -> None:
    (finding,) = judge(no_figures, LOST).findings
    assert (finding.severity, finding.cause) == (Severity.ERROR, "nvml-lost-in-container")
    assert finding.fixes[0].id == "recreate-container"


@pytest.mark.parametrize("status", ["library_not_found", "unknown_error", "binding_broken", "timeout", "no_permission"])
def test_where_cuda_works_it_is_information(status: str) -> None:
    (finding,) = judge(no_figures, changed(healthy_h100(), nvml=Nvml(status=status), gpus=None)).findings
    assert finding.severity is Severity.INFO
    assert "CUDA works" in finding.summary


def test_a_broken_binding_is_named_though_nobody_asked_cuda() -> None:
    machine = changed(without(healthy_h100(), "cuda"), nvml=Nvml(status="binding_broken"))
    (finding,) = judge(no_figures, machine).findings
    assert (finding.cause, finding.fixes[0].id) == ("pynvml", "reinstall-nvml-bindings")


@pytest.mark.parametrize("status", ["driver_not_loaded", "version_mismatch", "library_not_found"])
def test_what_the_driver_itself_lacks_is_for_other_checks(status: str) -> None:
    machine = changed(LOST, nvml=Nvml(status=status), host={"container": "none"})
    assert judge(no_figures, machine).status is Outcome.PASSED


def test_an_unknown_error_outside_a_container_is_not_explained_away() -> None:
    assert judge(no_figures, changed(LOST, host={"container": "none"})).status is Outcome.INCONCLUSIVE
