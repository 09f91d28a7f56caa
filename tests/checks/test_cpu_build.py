"""GD302: which build, on which platform, and whether a GPU is there to miss it."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.cpu_build import cpu_only
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_trial
from tests.checks.trials import on_cpu, trained

CPU = {"is_cuda_build": False, "distribution": "tensorflow-cpu", "visible_gpus": 0}
CPU_BUILD = with_trial(changed(healthy_h100(), tensorflow=CPU), on_cpu())
CASE = Case(
    check_code="GD302",
    fires=CPU_BUILD,
    near_miss=healthy_h100(),
    lacking=changed(CPU_BUILD, tensorflow={"is_cuda_build": Missing("unreadable")}),
    trial_variants=(None, trained()),
)


def test_the_same_version_is_installed_with_cuda() -> None:
    (finding,) = judge(cpu_only, CPU_BUILD).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text.endswith("pip install 'tensorflow[and-cuda]==2.20.0'")


def test_without_a_gpu_a_cpu_build_is_information() -> None:
    (finding,) = judge(cpu_only, no_gpu_machine()).findings
    assert (finding.severity, finding.fixes) == (Severity.INFO, ())


@pytest.mark.parametrize(
    ("host", "origin", "fix", "cause"),
    [
        ({"os": "windows"}, "official_wheel", "install-in-wsl", "windows-native"),
        ({"arch": "aarch64"}, "official_wheel", "run-ngc-container", "cpu-build"),
        ({}, "conda", "install-tensorflow", "cpu-build"),
    ],
)
def test_the_platform_decides_the_cure(host: dict[str, str], origin: str, fix: str, cause: str) -> None:
    machine = changed(CPU_BUILD, host=host, tensorflow={"origin": origin})
    (finding,) = judge(cpu_only, machine).findings
    assert (finding.fixes[0].id, finding.cause) == (fix, cause)
    assert "and-cuda" not in finding.fixes[0].text or fix == "install-in-wsl"


def test_cuda_wheels_beside_a_build_that_never_opens_them_are_counted() -> None:
    (finding,) = judge(cpu_only, changed(CPU_BUILD, host={"arch": "aarch64"})).findings
    assert any(each.value == 12 for each in finding.evidence)


def test_a_rocm_build_is_for_other_gpus() -> None:
    machine = changed(CPU_BUILD, tensorflow={"is_rocm_build": True})
    assert judge(cpu_only, machine).status is Outcome.PASSED


def test_a_cpu_build_that_trained_on_the_gpu_is_a_contradiction_not_a_pass() -> None:
    verdict = judge(cpu_only, with_trial(CPU_BUILD, trained()))
    assert verdict.status is Outcome.INCONCLUSIVE
    assert "trained on the GPU" in verdict.reason
