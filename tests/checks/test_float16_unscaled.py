"""GD617: float16 without loss scaling is found; mixed precision as Keras compiles it is not."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.trends import Loss
from gpudoctor.testing import judge
from gpudoctor_checks.compute.float16_unscaled import unscaled
from tests.checks.runs import case, make_settings, ran

PURE = make_settings(dtype_policy="float16", layer_policies=("float16",))
SCALED = make_settings(dtype_policy="mixed_float16", layer_policies=("mixed_float16",), loss_scale=True)
CASE = case("GD617", {"settings": PURE}, {"settings": SCALED}, "settings")


def test_a_loss_that_became_nan_is_an_error() -> None:
    (finding,) = judge(unscaled, ran(settings=PURE, loss=Loss(bad_step=40, bad_value="nan", steps=90))).findings
    assert finding.severity is Severity.ERROR


def test_bfloat16_needs_no_scaling() -> None:
    settings = make_settings(dtype_policy="mixed_bfloat16", layer_policies=("mixed_bfloat16",))
    assert judge(unscaled, ran(settings=settings)).findings == ()
