"""GD952: a loss that became NaN is an error with its step; float16 is suspected only where it is in force."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.trends import Loss
from gpudoctor.testing import judge
from gpudoctor_checks.numerics.loss_not_finite import not_finite
from tests.checks.runs import SCRIPT, case, make_settings, ran

BAD = Loss(file=SCRIPT, line=41, steps=650, first_value="2.3", last_value="nan", bad_step=340, bad_value="nan")
CASE = case("GD952", {"loss": BAD}, {}, "loss")


def test_in_float32_it_is_not_float16() -> None:
    (finding,) = judge(not_finite, ran(loss=BAD)).findings
    assert finding.cause == "loss-not-finite"
    assert "step 340 of fit, in float32; 310 more steps" in finding.summary
    assert finding.location is not None
    assert finding.location.line == 41


def test_a_step_that_is_known_within_a_bound_is_told_so() -> None:
    (finding,) = judge(not_finite, ran(loss=replace(BAD, bad_within=8))).findings
    assert "between steps 333 and 340 of fit, in float32" in finding.summary


def test_under_mixed_precision_the_range_of_float16_is_suspected_first() -> None:
    settings = make_settings(dtype_policy="mixed_float16", layer_policies=("mixed_float16",), loss_scale=True)
    (finding,) = judge(not_finite, ran(loss=BAD, settings=settings)).findings
    assert (finding.cause, finding.fixes[0].id) == ("fp16-nan", "float32-output")
