"""GD703: several devices work, fail, or bring nothing; two devices of one CPU never speak of speed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import TrialStatus
from gpudoctor.testing import judge
from gpudoctor_checks.distribution.replicas import together
from tests.checks.case import Case
from tests.checks.machines import broken, healthy_h100, paired, with_trial

SOUND = Trial(
    name="replicas", device="CPU", values={"replicas": 2.0, "gpus": 0.0, "fewest_steps": 30.0, "gradient_error": 6e-7}
)
WRONG = replace(SOUND, status="failed", reason="the gradients added up over 2 replicas differ by 0.5 from one device's")


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(healthy_h100(), trial, name="replicas")


CASE = Case(
    check_code="GD703",
    fires=a_machine(WRONG),
    near_miss=a_machine(SOUND),
    lacking=a_machine(None),
    trial="replicas",
    trial_variants=(None, SOUND),
)


def test_wrong_gradients_are_told_with_their_figure() -> None:
    (finding,) = judge(together, a_machine(WRONG)).findings
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "other-all-reduce")
    assert "differ by 0.5" in str(finding.evidence[0].value)


@pytest.mark.parametrize("status", ["crashed", "timeout"])
def test_a_trial_that_does_not_end_points_at_the_exchange(status: TrialStatus) -> None:
    (finding,) = judge(together, a_machine(broken("replicas", status=status))).findings
    assert finding.fixes[0].id == "nccl-debug"


def test_gpus_that_bring_nothing_together_are_told() -> None:
    trial = paired("replicas", "all", "one", speedup=0.95)
    (finding,) = judge(together, a_machine(replace(trial, values={"gpus": 2.0}))).findings
    assert finding.cause == "multi-gpu-no-gain"


def test_gpus_that_scale_are_no_finding() -> None:
    assert judge(together, a_machine(paired("replicas", "all", "one", speedup=1.8))).status is Outcome.PASSED


def test_a_trial_without_an_answer_is_no_pass() -> None:
    assert judge(together, a_machine(broken("replicas", status="inconclusive"))).status is Outcome.INCONCLUSIVE
