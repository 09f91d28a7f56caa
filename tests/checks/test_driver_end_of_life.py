"""GD102: information where all works; a warning only where training fails as well."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.driver_end_of_life import ended
from tests.checks.case import Case
from tests.checks.healthy import healthy_wsl2, no_gpu_machine
from tests.checks.machines import changed, healthy_t4, make_gpu, make_machine, with_trial, without
from tests.checks.trials import broken, trained

T4 = make_gpu(name="Tesla T4", cc="7.5", memory_mib=15360)
R535 = make_machine((T4,), driver="535.183.01")
CASE = Case(
    check_code="GD102",
    fires=R535,
    near_miss=healthy_t4(),
    lacking=without(R535, "nvml", "cuda", "kernel"),
    trial_variants=(broken(), broken(status="timeout")),
)


def test_the_driver_that_many_guides_recommend_has_ended() -> None:
    (finding,) = judge(ended, R535).findings
    assert finding.severity is Severity.INFO
    assert finding.summary == "Driver 535.183.01 is of branch R535, which ended in June 2026."


@pytest.mark.parametrize("driver", ["580.95.05", "595.45.04", "590.48.01"])
def test_kept_branches_are_left_alone(driver: str) -> None:
    assert judge(ended, make_machine((T4,), driver=driver)).status is Outcome.PASSED


V100 = make_gpu(name="Tesla V100-SXM2-16GB", cc="7.0", memory_mib=16160)


def test_a_branch_that_dropped_the_gpu_is_a_warning_and_the_cure_is_its_last_branch() -> None:
    (finding,) = judge(ended, with_trial(make_machine((V100,), driver="590.48.01"), None)).findings
    assert (finding.severity, finding.confidence) == (Severity.WARNING, 0.9)
    assert "R590, which no longer serves Tesla V100-SXM2-16GB: its last is R580" in finding.summary
    assert "nvidia-driver-580" in finding.fixes[0].text


def test_where_it_trains_all_the_same_that_is_weighed_and_where_it_fails_it_is_an_error() -> None:
    machine = make_machine((V100,), driver="590.48.01")
    assert judge(ended, with_trial(machine, trained())).findings[0].confidence == 0.5
    assert judge(ended, with_trial(machine, broken())).findings[0].severity is Severity.ERROR


def test_on_its_last_branch_it_is_well() -> None:
    assert judge(ended, make_machine((V100,), driver="580.95.05")).status is Outcome.PASSED


def test_on_wsl_the_windows_number_names_the_branch() -> None:
    assert judge(ended, healthy_wsl2()).status is Outcome.PASSED
    old = {"driver_version": "573.76", "cuda_driver_version": "12.8"}
    (finding,) = judge(ended, changed(healthy_wsl2(), nvml=old)).findings
    assert "branch R570" in finding.summary


def test_kepler_stays_on_its_last_branch() -> None:
    k80 = make_gpu(name="Tesla K80", cc="3.7", memory_mib=11441)
    assert judge(ended, make_machine((k80,), driver="470.256.02")).status is Outcome.PASSED


def test_a_number_of_no_known_branch_is_not_a_pass() -> None:
    assert judge(ended, make_machine((T4,), driver="999.10")).status is Outcome.INCONCLUSIVE


def test_without_a_driver_there_is_no_branch() -> None:
    assert judge(ended, no_gpu_machine()).status is Outcome.SKIPPED
