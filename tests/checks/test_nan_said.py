"""GD951: a sign of float16 turns a suspicion into an error."""

from __future__ import annotations

from gpudoctor_checks.numerics.nan_said import not_a_number
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD951", "step 12 - loss: nan - accuracy: 0.1000", variants=FAULTY)


def test_fit_scales_its_loss_itself() -> None:
    finding = found(not_a_number, "10/10 - 1s - loss: nan - accuracy: 0.1")
    assert (finding.cause, finding.fixes[0].id) == ("fp16-nan", "float32-output")


def test_a_loop_of_its_own_has_to_scale() -> None:
    finding = found(not_a_number, "RuntimeError: NAN Error in iteration 248")
    assert (finding.cause, finding.fixes[0].id) == ("fp16-nan", "scale-loss-in-loop")


def test_a_keras_older_than_float16_policies_is_not_told_of_float16() -> None:
    finding = found(not_a_number, "9595/9595 [=====] - 1s - loss: nan - acc: 0.4117")
    assert (finding.cause, finding.fixes[0].id) == ("loss-not-finite", "clip-gradients")
