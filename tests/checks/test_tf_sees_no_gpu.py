"""GD112: the symptom between driver and TensorFlow."""

from __future__ import annotations

from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.tf_sees_no_gpu import unseen
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_trial
from tests.checks.trials import on_cpu, trained

UNSEEN = with_trial(changed(healthy_h100(), tensorflow={"visible_gpus": 0}), on_cpu())
CASE = Case(
    check_code="GD112",
    fires=UNSEEN,
    near_miss=healthy_h100(),
    lacking=changed(UNSEEN, tensorflow={"visible_gpus": Missing("GPU left alone: busy")}),
    trial_variants=(None, trained()),
)


def test_without_a_usable_gpu_there_is_nothing_to_see() -> None:
    assert judge(unseen, changed(no_gpu_machine(), tensorflow={"visible_gpus": 0})).status is Outcome.PASSED


def test_it_is_told_apart_from_its_causes() -> None:
    (finding,) = judge(unseen, UNSEEN).findings
    assert finding.cause == "cpu-placement"
