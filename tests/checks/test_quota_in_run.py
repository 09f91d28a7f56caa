"""GD514: a quota that stopped the run is found, and is grave where steps waited."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.testing import judge
from gpudoctor_checks.input.quota_in_run import stopped
from tests.checks.runs import case, make_machine_over_time, make_steps, ran

HIT = make_machine_over_time(quota_cores=2.0, stopped_share=0.4)
FREE = make_machine_over_time(quota_cores=2.0, stopped_share=0.01)
CASE = case("GD514", {"machine": HIT, "steps": make_steps(waits=0.5)}, {"machine": FREE}, "machine")


def test_where_nothing_waits_it_is_a_note() -> None:
    (finding,) = judge(stopped, ran(machine=HIT)).findings
    assert finding.severity is Severity.INFO
