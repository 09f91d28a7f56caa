"""GD602: a doubling that brings more than the square root of two is nearer to free than to useless."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.observed import Arm, Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Processor
from gpudoctor.testing import judge
from gpudoctor_checks.compute.launch_bound import bound
from tests.checks.case import Case
from tests.checks.machines import broken, healthy_h100, with_trial, without_probe


def a_ladder(rates: dict[int, float], *, device: Processor = "GPU") -> Trial:
    arms = tuple(Arm(name=str(size), steps=30, step_s=size / rate, examples_per_s=rate) for size, rate in rates.items())
    return Trial(name="batch_ladder", device=device, arms=arms, values={"best_examples_per_s": max(rates.values())})


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(healthy_h100(), trial, name="batch_ladder")


def the_finding(trial: Trial) -> Finding:
    (finding,) = judge(bound, a_machine(trial)).findings
    return finding


FLAT = a_ladder({64: 1.0e5, 128: 1.1e5, 256: 1.2e5, 512: 1.25e5})
STEEP = a_ladder({64: 1.0e5, 128: 2.0e5, 256: 3.9e5, 512: 7.4e5, 1024: 8.2e5})
CASE = Case(
    check_code="GD602",
    fires=a_machine(STEEP),
    near_miss=a_machine(FLAT),
    lacking=without_probe(a_machine(STEEP)),
    trial="batch_ladder",
    trial_variants=(None, FLAT),
)


def test_the_batch_up_to_which_it_pays_is_named() -> None:
    finding = the_finding(STEEP)
    assert finding.severity is Severity.INFO
    assert "up to batch 512" in finding.summary
    assert "3.7x" in finding.summary


def test_the_climb_ends_at_the_first_rung_that_does_not_pay() -> None:
    late = a_ladder({128: 2.0e5, 256: 3.9e5, 512: 4.2e5, 1024: 8.0e5})
    assert "up to batch 256" in the_finding(late).summary


def test_unpaired_windows_promise_no_speed_up() -> None:
    assert the_finding(STEEP).fixes[0].gain.speedup is None


def test_the_square_root_of_two_is_the_boundary() -> None:
    assert judge(bound, a_machine(a_ladder({128: 1.0, 256: 1.41}))).status is Outcome.PASSED
    assert judge(bound, a_machine(a_ladder({128: 1.0, 256: 1.42}))).status is Outcome.FOUND


@pytest.mark.parametrize(
    "trial",
    [
        a_ladder({128: 1.0e5, 256: 2.0e5}, device="CPU"),
        a_ladder({128: 1.0e5}),
        broken("batch_ladder"),
        broken("batch_ladder", status="refused"),
    ],
)
def test_a_ladder_that_cannot_answer_is_not_a_pass(trial: Trial) -> None:
    assert judge(bound, a_machine(trial)).status is Outcome.INCONCLUSIVE


def with_interval(half: float, low: float, high: float) -> Trial:
    values = {"half_batch": half, "half_batch_low": low, "half_batch_high": high}
    return replace(STEEP, values={**STEEP.values, **values})


def test_where_overhead_ends_is_named_with_the_rung_that_reaches_it() -> None:
    assert "up to batch 512" in the_finding(with_interval(300.0, 220.0, 410.0)).summary


def test_an_end_of_overhead_below_the_usual_batch_is_nothing_to_mend() -> None:
    assert judge(bound, a_machine(with_interval(60.0, 40.0, 90.0))).status is Outcome.PASSED


def test_noise_that_hides_on_which_side_the_usual_batch_lies_is_no_verdict() -> None:
    verdict = judge(bound, a_machine(with_interval(180.0, 90.0, 360.0)))
    assert verdict.status is Outcome.INCONCLUSIVE
    assert "90 to 360" in verdict.reason
