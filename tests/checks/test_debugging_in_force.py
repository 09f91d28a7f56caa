"""GD621: debugging modes that were on are named; determinism is a note, for it may be meant."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.finding import Grade, Severity
from gpudoctor.testing import judge
from gpudoctor_checks.compute.debugging_in_force import debugging
from tests.checks.runs import case, make_settings, make_steps, ran

EAGER = replace(make_settings(), process={"eager_functions": True})
CASE = case("GD621", {"settings": EAGER}, {"settings": make_settings()}, "settings")


def test_the_call_to_remove_is_named() -> None:
    (finding,) = judge(debugging, CASE.fires).findings
    assert "run_functions_eagerly" in finding.fixes[0].text


def test_determinism_may_be_meant() -> None:
    settings = replace(make_settings(), process={"deterministic": True})
    (finding,) = judge(debugging, ran(settings=settings)).findings
    assert finding.severity is Severity.INFO


def test_the_bound_leaves_only_what_waits_for_data() -> None:
    (finding,) = judge(debugging, ran(settings=EAGER, steps=make_steps(waits=0.05))).findings
    assert (finding.fixes[0].gain.grade, finding.fixes[0].gain.speedup) == (Grade.BOUND, 20.0)


def test_a_mode_that_may_cost_the_whole_step_is_not_bounded() -> None:
    (finding,) = judge(debugging, ran(settings=EAGER, steps=make_steps(waits=0.001))).findings
    assert (finding.fixes[0].gain.grade, finding.fixes[0].gain.speedup) == (Grade.UNPROVEN, None)


def test_where_no_steps_are_known_nothing_is_said_to_gain_nothing() -> None:
    (finding,) = judge(debugging, ran(settings=EAGER, steps=None)).findings
    assert (finding.fixes[0].gain.grade, finding.fixes[0].gain.speedup) == (Grade.UNPROVEN, None)
