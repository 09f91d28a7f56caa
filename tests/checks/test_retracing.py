"""GD612: many tracings of one function are found, by the time that they took; one for each model is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.phases import Tracing, Tracings
from gpudoctor.testing import judge
from gpudoctor_checks.compute.retracing import retraced
from tests.checks.runs import SCRIPT, case, ran


def traced(
    count: int, seconds: float, *, name: str = "step", users: bool = True, reason: str = "k: Literal[1] -> Literal[2]"
) -> Tracings:
    each = Tracing(name=name, file=SCRIPT, line=24, count=count, total_s=seconds, reasons=(reason,), users=users)
    return Tracings(functions=(each,), share=seconds / 13)


CASE = case("GD612", {"tracings": traced(40, 6.0)}, {"tracings": traced(3, 6.0)}, "tracings")


def test_the_calling_line_is_the_place_and_the_reason_the_evidence() -> None:
    (finding,) = judge(retraced, CASE.fires).findings
    assert finding.location is not None
    assert finding.location.line == 24
    assert "Literal" in str(finding.evidence[-1].value)


def test_tracings_that_cost_little_are_a_note() -> None:
    (finding,) = judge(retraced, ran(tracings=traced(40, 0.1))).findings
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize("name", ["one_step_on_data", "train_function"])
def test_five_folds_of_a_cross_validation_are_no_fault(name: str) -> None:
    assert judge(retraced, ran(tracings=traced(10, 4.0, name=name, users=False))).findings == ()


def test_a_function_of_the_users_that_is_called_as_one_of_keras_is_theirs() -> None:
    (finding,) = judge(retraced, ran(tracings=traced(10, 4.0, name="train_function"))).findings
    assert finding.severity is Severity.WARNING


def test_other_shapes_get_the_advice_for_shapes() -> None:
    reason = "x: TensorSpec(shape=(32,)) -> TensorSpec(shape=(17,))"
    (finding,) = judge(retraced, ran(tracings=traced(9, 5.0, reason=reason))).findings
    assert "drop_remainder" in finding.fixes[0].text


def test_other_lengths_get_a_graph_that_takes_them_not_the_advice_for_a_last_batch() -> None:
    before, after = (f"TensorSpec(shape={shape}, dtype=tf.int32, name=None)" for shape in ("(32, 58)", "(24, 55)"))
    (finding,) = judge(retraced, ran(tracings=traced(9, 5.0, reason=f"x: {before} -> {after}"))).findings
    assert "reduce_retracing=True" in finding.fixes[0].text
    assert "drop_remainder" not in finding.fixes[0].text
    assert str(finding.evidence[-1].value) == "9x, x: int32(32, 58) -> int32(24, 55)"


def test_a_change_that_was_seen_is_told_before_one_that_nothing_explains() -> None:
    unexplained, seen = "same types: a captured value or the scope differs", "k: Literal[1] -> Literal[2]"
    each = Tracing(name="step", file=SCRIPT, line=24, count=9, total_s=5.0, reasons=(unexplained, seen))
    (finding,) = judge(retraced, ran(tracings=Tracings(functions=(each,)))).findings
    assert seen in str(finding.evidence[-1].value)
    assert "tf.constant" in finding.fixes[0].text


def test_where_nothing_of_the_arguments_differs_nobody_is_told_to_change_them() -> None:
    reason = "same types: a captured value or the scope differs"
    (finding,) = judge(retraced, ran(tracings=traced(9, 5.0, reason=reason))).findings
    assert "tf.constant" not in finding.fixes[0].text
    assert "scope" in finding.fixes[0].title


def test_what_would_gain_nothing_is_not_advised() -> None:
    (finding,) = judge(retraced, ran(tracings=traced(40, 0.1))).findings
    assert finding.fixes == ()


def test_the_time_is_a_share_of_all_the_training_not_of_its_longest_loop() -> None:
    (finding,) = judge(retraced, ran(tracings=replace(traced(40, 6.0), whole_s=60.0))).findings
    assert finding.share == pytest.approx(0.1)
    assert "10% of the run" in finding.summary


def test_nobody_is_told_to_define_a_function_of_tensorflows_own() -> None:
    made = traced(28, 6.0, name="_next_func", users=False, reason="rebuilt")
    (finding,) = judge(retraced, ran(tracings=Tracings(functions=(replace(made.functions[0], rebuilt=True),)))).findings
    assert "tf.function" not in finding.fixes[0].text
    assert "once, before the loop" in finding.fixes[0].text
