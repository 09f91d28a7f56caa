"""GD622: the healthy case is a note, and needs the device seen where there is one."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.testing import judge
from gpudoctor_checks.compute.bound_by_compute import healthy
from tests.checks.runs import case, make_steps, ran

CASE = case("GD622", {"steps": make_steps(waits=0.02)}, {"steps": make_steps(waits=0.02, host=0.4)}, "steps")


def test_it_is_a_note_without_a_fix() -> None:
    (finding,) = judge(healthy, CASE.fires).findings
    assert (finding.severity, finding.fixes) == (Severity.INFO, ())


def test_a_gpu_that_was_not_seen_at_work_is_not_called_busy() -> None:
    steps = make_steps(gpu=True)
    unseen = replace(steps, device_plane="closed", shares=replace(steps.shares, device=Missing("closed")))
    assert judge(healthy, ran(steps=unseen)).findings == ()
