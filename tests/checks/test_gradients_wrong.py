"""GD901: only a comparison that ended, on the device in question, is a verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Processor
from gpudoctor.testing import judge
from gpudoctor_checks.numerics.gradients_wrong import wrong
from tests.checks.case import Case
from tests.checks.machines import broken, healthy_h100, refused, trained, with_trial, without, without_probe


def a_comparison(reason: str = "", *, device: Processor = "GPU") -> Trial:
    return Trial(
        name="gradcheck",
        status="failed" if reason else "ok",
        reason=reason,
        device=device,
        values={"max_relative_error": 0.031 if reason else 2.1e-6, "tolerance": 4.7e-5},
    )


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(healthy_h100(), trial, name="gradcheck")


def the_finding(reason: str) -> Finding:
    (finding,) = judge(wrong, a_machine(a_comparison(reason))).findings
    return finding


FAULT = "float32, layer 2 W: entry [3, 7] is off by 0.031 of the largest, rounding allows 4.7e-05"
WRONG = a_machine(a_comparison(FAULT))
CASE = Case(
    check_code="GD901",
    fires=WRONG,
    near_miss=a_machine(a_comparison()),
    lacking=a_machine(None),
    trial="gradcheck",
    trial_variants=(None, a_comparison()),
)


def test_wrong_gradients_are_an_error_that_names_the_place() -> None:
    finding = the_finding(FAULT)
    assert finding.severity is Severity.ERROR
    assert finding.evidence[0].value == FAULT


def test_a_loss_that_did_not_fall_either_makes_it_surer() -> None:
    flat = with_trial(WRONG, broken(status="failed"))
    assert judge(wrong, flat).findings[0].confidence > the_finding(FAULT).confidence


@pytest.mark.parametrize(
    ("arm", "fix"), [("jit", "no-xla"), ("mixed", "float32-for-now"), ("mixed_jit", "repeat-gradcheck")]
)
def test_a_fault_of_one_arm_alone_is_avoided_first(arm: str, fix: str) -> None:
    assert the_finding(f"{arm}, layer 1 b: entry [0] is off").fixes[0].id == fix


def test_a_fault_in_plain_float32_has_no_stopgap() -> None:
    assert the_finding(FAULT).fixes[0].id == "repeat-gradcheck"


@pytest.mark.parametrize(
    "trial", [refused("gradcheck"), broken("gradcheck"), broken("gradcheck", status="inconclusive")]
)
def test_a_comparison_that_did_not_end_passes_nothing(trial: Trial) -> None:
    assert judge(wrong, a_machine(trial)).status is Outcome.INCONCLUSIVE


def test_a_comparison_on_the_cpu_does_not_speak_for_the_gpu() -> None:
    assert judge(wrong, a_machine(a_comparison(device="CPU"))).status is Outcome.INCONCLUSIVE


def test_without_a_gpu_the_cpu_is_the_device() -> None:
    machine = replace(without(a_machine(a_comparison(device="CPU")), "gpus", "cuda"))
    assert judge(wrong, machine).status is Outcome.PASSED


def test_a_loss_that_does_not_fall_is_an_error_though_the_gradients_are_right() -> None:
    flat = replace(trained(), status="failed", reason="the loss did not fall: 2.303 at first, 2.301 after 469 steps")
    (finding,) = judge(wrong, with_trial(a_machine(a_comparison()), flat)).findings
    assert finding.severity is Severity.ERROR
    assert "does not learn on the GPU" in finding.summary
    assert finding.confidence < the_finding(FAULT).confidence


def test_it_is_skipped_at_quick() -> None:
    assert judge(wrong, without_probe(WRONG)).status is Outcome.SKIPPED
    assert wrong.needs_probe


def test_a_training_that_went_well_is_no_comparison() -> None:
    assert judge(wrong, with_trial(a_machine(None), trained())).status is Outcome.SKIPPED


@pytest.mark.parametrize("error", [0.5, float("nan")])
@pytest.mark.parametrize("prefix", ["", "mixed_"])
def test_figures_beyond_the_tolerance_outweigh_the_word_ok(error: float, prefix: str) -> None:
    figures = {f"{prefix}max_relative_error": error, f"{prefix}tolerance": 1e-3}
    verdict = judge(wrong, a_machine(replace(a_comparison(), values=figures)))
    assert verdict.findings[0].severity is Severity.ERROR


def test_a_loss_that_rises_outweighs_the_word_ok() -> None:
    good = trained()
    for last in (2.31, 2.4, float("nan")):
        rising = replace(good, arms=(replace(good.arms[0], loss_first=2.31, loss_last=last),))
        (finding,) = judge(wrong, with_trial(a_machine(a_comparison()), rising)).findings
        assert "does not learn" in finding.summary
