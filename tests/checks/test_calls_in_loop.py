"""GD614: many short calls from one line are found; few calls with real work are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.phases import CallGroup, Calls
from gpudoctor.model.words import PhaseKind
from gpudoctor.testing import judge
from gpudoctor_checks.compute.calls_in_loop import called
from tests.checks.runs import SCRIPT, case, ran


def group(kind: PhaseKind, calls: int, steps: float, share: float) -> Calls:
    each = CallGroup(kind=kind, file=SCRIPT, line=50, calls=calls, steps=steps, total_s=6.0, share=share)
    return Calls(groups=(each,), epochs=1, epoch_s=3.0)


CASE = case("GD614", {"calls": group("predict", 100, 100, 0.6)}, {"calls": group("predict", 100, 4000, 0.6)}, "calls")


def test_the_calling_line_is_the_place() -> None:
    (finding,) = judge(called, CASE.fires).findings
    assert finding.location is not None
    assert (finding.location.line, "predict()" in finding.summary) == (50, True)


def test_five_folds_are_no_fault() -> None:
    assert judge(called, ran(calls=group("fit", 5, 40, 0.9))).findings == ()


def test_a_search_that_fits_each_model_once_is_no_fault() -> None:
    (each,) = group("fit", 30, 90, 0.9).groups
    assert judge(called, ran(calls=Calls(groups=(replace(each, models=30),)))).findings == ()
    assert judge(called, ran(calls=Calls(groups=(each,)))).findings != ()


def test_calls_that_take_little_time_are_no_fault() -> None:
    assert judge(called, ran(calls=group("predict", 100, 100, 0.1))).findings == ()


def test_calls_from_several_lines_are_one_trouble() -> None:
    (one,) = group("predict", 30, 30, 0.15).groups
    calls = Calls(groups=(one, replace(one, line=52, calls=20, share=0.12)), epochs=1, epoch_s=3.0)
    (finding,) = judge(called, ran(calls=calls)).findings
    assert "50 times" in finding.summary
    assert "and 1 more" in finding.summary
    assert finding.share == pytest.approx(0.27)
    assert [each.label for each in finding.evidence if "calls," in str(each.value)] == ["train.py:50", "train.py:52"]


def test_the_promise_reaches_from_a_part_of_the_fixed_cost_to_all_of_the_calls() -> None:
    (finding,) = judge(called, ran(calls=group("predict", 100, 100, 0.6))).findings
    gain = finding.fixes[0].gain
    assert gain.low == pytest.approx(1.25)
    assert gain.high == pytest.approx(2.5)
    assert "training=False" in finding.fixes[0].text
