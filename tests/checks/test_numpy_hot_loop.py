"""GD504: the price of NumPy in the loop is this machine's, never said of the user's loop."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Processor, TrialStatus
from gpudoctor.testing import judge
from gpudoctor_checks.input.numpy_hot_loop import cost
from tests.checks.case import Case
from tests.checks.machines import broken, healthy_h100, paired, with_trial, without_probe


def the_trial(speedup: float, *, half: float = 0.05, device: Processor = "GPU") -> Trial:
    return paired("numpy_loop", "tensor_ops", "numpy", speedup=speedup, half=half, device=device)


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(healthy_h100(), trial, name="numpy_loop")


def the_finding(trial: Trial) -> Finding:
    (finding,) = judge(cost, a_machine(trial)).findings
    return finding


CASE = Case(
    check_code="GD504",
    fires=a_machine(the_trial(2.6)),
    near_miss=a_machine(the_trial(0.95)),
    lacking=without_probe(a_machine(the_trial(2.6))),
    trial="numpy_loop",
    trial_variants=(None, the_trial(0.95)),
)


def test_it_is_a_note_with_the_probes_gain() -> None:
    finding = the_finding(the_trial(2.6))
    assert finding.severity is Severity.INFO
    assert (finding.fixes[0].gain.grade, finding.fixes[0].gain.low) == (Grade.PROBE, 2.55)
    assert "your own loop was not seen" in finding.basis


def test_an_interval_that_reaches_the_bar_proves_nothing() -> None:
    assert judge(cost, a_machine(the_trial(1.2, half=0.2))).status is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("status", ["refused", "crashed", "timeout", "unsupported"])
def test_a_trial_that_did_not_end_is_not_a_pass(status: TrialStatus) -> None:
    assert judge(cost, a_machine(broken("numpy_loop", status=status))).status is Outcome.INCONCLUSIVE


def test_a_loop_on_the_cpu_weighs_less() -> None:
    assert the_finding(the_trial(2.6, device="CPU")).confidence < the_finding(the_trial(2.6)).confidence
