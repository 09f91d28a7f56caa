"""GD116: names of MIG instances against the MIG mode of the GPUs, and one process against several instances."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.mig_instances import instances
from tests.checks.case import Case
from tests.checks.machines import make_gpu, make_machine, with_env, with_trial, without
from tests.checks.texts import found
from tests.checks.trials import on_cpu, trained

ONE, TWO = "MIG-11111111-aaaa", "MIG-22222222-bbbb"


def split(count: int | Missing) -> Snapshot:
    return make_machine((replace(make_gpu(), mig_mode="enabled", mig_instances=count),))


SEVERAL = with_env(split(2), CUDA_VISIBLE_DEVICES=f"{ONE},{TWO}")
CASE = Case(
    check_code="GD116",
    fires=SEVERAL,
    near_miss=with_env(split(2), CUDA_VISIBLE_DEVICES=ONE),
    lacking=without(SEVERAL, "env"),
    trial_variants=(None, on_cpu()),
)


def test_two_instances_for_one_process_are_a_warning_with_the_right_way() -> None:
    (finding,) = judge(instances, SEVERAL).findings
    assert finding.severity is Severity.WARNING
    assert finding.fixes[0].id == "one-process-per-instance"


def test_a_name_of_an_instance_where_mig_is_off_hides_the_gpu() -> None:
    machine = with_trial(with_env(make_machine(), CUDA_VISIBLE_DEVICES=ONE), on_cpu())
    (finding,) = judge(instances, machine).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == "nvidia-smi -L"
    (refuted,) = judge(instances, with_trial(machine, trained())).findings
    assert refuted.confidence < 0.3


def test_several_instances_without_a_name_are_a_note() -> None:
    (finding,) = judge(instances, split(7)).findings
    assert (finding.severity, finding.summary) == (
        Severity.INFO,
        "7 MIG instances are here; this process gets one.",
    )


def test_a_name_that_cannot_be_compared_is_no_pass() -> None:
    gpu = replace(make_gpu(), mig_mode=Missing("no_permission"))
    machine = with_env(make_machine((gpu,)), CUDA_VISIBLE_DEVICES=ONE)
    assert judge(instances, machine).status is Outcome.INCONCLUSIVE
    assert judge(instances, without(make_machine(), "gpus")).status is Outcome.INCONCLUSIVE


def test_a_gpu_out_of_mig_mode_passes() -> None:
    assert judge(instances, make_machine()).status is Outcome.PASSED


def test_a_gpu_without_that_mode_is_not_in_it() -> None:
    gpu = replace(make_gpu(), mig_mode=Missing("not_supported"), mig_instances=Missing("not_supported"))
    assert judge(instances, make_machine((gpu,))).status is Outcome.PASSED
    named = with_env(make_machine((gpu,)), CUDA_VISIBLE_DEVICES=ONE)
    assert judge(instances, named).status is Outcome.FOUND


def test_a_gpu_that_is_said_to_be_in_mig_mode_gives_a_process_one_instance() -> None:
    finding = found(instances, gpu="A100 in MIG mode")
    assert (finding.severity, finding.fixes[0].id) == (Severity.INFO, "one-process-per-instance")
