"""GD621: debugging modes that were on are named; determinism is a note, for it may be meant."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.finding import Severity
from gpudoctor.testing import judge
from gpudoctor_checks.compute.debugging_in_force import debugging
from tests.checks.runs import case, make_settings, ran

EAGER = replace(make_settings(), process={"eager_functions": True})
CASE = case("GD621", {"settings": EAGER}, {"settings": make_settings()}, "settings")


def test_the_call_to_remove_is_named() -> None:
    (finding,) = judge(debugging, CASE.fires).findings
    assert "run_functions_eagerly" in finding.fixes[0].text


def test_determinism_may_be_meant() -> None:
    settings = replace(make_settings(), process={"deterministic": True})
    (finding,) = judge(debugging, ran(settings=settings)).findings
    assert finding.severity is Severity.INFO
