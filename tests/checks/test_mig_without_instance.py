"""GD113: MIG mode is a fault only where no instance is left to use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.mig_without_instance import without_instance
from tests.checks.case import Case
from tests.checks.machines import healthy_h100, make_gpu, make_machine, with_trial, without
from tests.checks.trials import on_cpu, trained


def in_mig_mode(instances: int | Missing, index: int = 0) -> Gpu:
    return replace(make_gpu(index), mig_mode="enabled", mig_instances=instances)


def a_machine(*gpus: Gpu) -> Snapshot:
    return with_trial(make_machine(gpus), on_cpu())


EMPTY = a_machine(in_mig_mode(0))
CASE = Case(
    check_code="GD113",
    fires=EMPTY,
    near_miss=a_machine(in_mig_mode(1)),
    lacking=without(EMPTY, "gpus"),
    trial_variants=(None, trained()),
)


def test_mig_mode_without_an_instance_is_an_error_with_both_ways_out() -> None:
    (finding,) = judge(without_instance, EMPTY).findings
    assert finding.severity is Severity.ERROR
    assert [fix.text for fix in finding.fixes] == ["sudo nvidia-smi mig -i 0 -cgi 0 -C", "sudo nvidia-smi -i 0 -mig 0"]


def test_beside_another_gpu_it_is_a_warning() -> None:
    (finding,) = judge(without_instance, a_machine(in_mig_mode(0), make_gpu(1))).findings
    assert finding.severity is Severity.WARNING


def test_a_gpu_without_that_mode_passes() -> None:
    gpu = replace(make_gpu(), mig_mode=Missing("not_supported"), mig_instances=Missing("not_supported"))
    assert judge(without_instance, a_machine(gpu)).status is Outcome.PASSED


@pytest.mark.parametrize(
    "gpu", [in_mig_mode(Missing("no_permission")), replace(make_gpu(), mig_mode=Missing("timeout")), Gpu(index=0)]
)
def test_what_nvml_does_not_tell_is_not_a_pass(gpu: Gpu) -> None:
    assert judge(without_instance, a_machine(gpu)).status is Outcome.SKIPPED


def test_no_gpu_in_the_list_is_not_a_pass() -> None:
    assert judge(without_instance, replace(healthy_h100(), gpus=())).status is Outcome.SKIPPED
