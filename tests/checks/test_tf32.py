"""GD603: what the gradient check measured decides, not the model of the GPU."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.words import Processor
from gpudoctor.testing import judge
from gpudoctor_checks.compute.tf32 import rounded
from tests.checks.case import Case
from tests.checks.machines import healthy_h100, healthy_t4, with_env, with_trial
from tests.checks.trials import broken, trained


def compared(error: float, *, device: Processor = "GPU") -> Trial:
    return replace(trained("gradcheck", device=device), values={"float32.max_relative_error": error, "tolerance": 1e-2})


ROUNDED = with_trial(healthy_h100(), compared(6.1e-4), name="gradcheck")
CASE = Case(
    check_code="GD603",
    fires=ROUNDED,
    near_miss=with_trial(healthy_h100(), compared(2.1e-6), name="gradcheck"),
    lacking=with_trial(ROUNDED, None, name="gradcheck"),
    trial="gradcheck",
    trial_variants=(None, compared(1e-6)),
)


def test_it_is_a_note_that_calls_nothing_broken() -> None:
    (finding,) = judge(rounded, ROUNDED).findings
    assert finding.severity is Severity.INFO
    assert finding.fixes[0].title.startswith("Only if digits matter")


def test_a_gpu_without_it_and_a_variable_against_it_pass() -> None:
    turing = with_trial(healthy_t4(), compared(6.1e-4), name="gradcheck")
    assert judge(rounded, turing).status is Outcome.PASSED
    assert judge(rounded, with_env(ROUNDED, NVIDIA_TF32_OVERRIDE="0")).status is Outcome.PASSED


@pytest.mark.parametrize("trial", [compared(6.1e-4, device="CPU"), broken("gradcheck")])
def test_products_of_another_device_say_nothing(trial: Trial) -> None:
    assert judge(rounded, with_trial(ROUNDED, trial, name="gradcheck")).status is Outcome.INCONCLUSIVE
