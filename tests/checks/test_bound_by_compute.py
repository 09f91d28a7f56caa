"""GD622: the healthy case is a note, and needs the device seen where there is one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.phases import Tracing, Tracings
from gpudoctor.model.report import Outcome
from gpudoctor.model.run import HotLines, StepPart
from gpudoctor.testing import judge
from gpudoctor_checks.compute.bound_by_compute import healthy
from tests.checks.runs import case, make_line, make_machine_over_time, make_pipeline, make_settings, make_steps, ran

CASE = case("GD622", {"steps": make_steps(waits=0.02)}, {"steps": make_steps(waits=0.02, host=0.4)}, "steps")


def test_it_is_a_note_without_a_fix() -> None:
    (finding,) = judge(healthy, CASE.fires).findings
    assert (finding.severity, finding.fixes) == (Severity.INFO, ())


def test_a_gpu_that_was_not_seen_at_work_is_not_called_busy() -> None:
    steps = make_steps(gpu=True)
    unseen = replace(steps, device_plane="closed", shares=replace(steps.shares, device=Missing("closed")))
    assert judge(healthy, ran(steps=unseen)).findings == ()


def test_steps_that_wait_for_python_of_the_input_are_not_called_bound_by_compute() -> None:
    lines = HotLines(lines=(make_line(0.7, role="pipeline", activity="python", leaf="split"),), sampled_s=3.0)
    beside = {
        "steps": make_steps(waits=0.02),
        "pipeline": make_pipeline(python="sequence", batch_s=0.014),
        "hot_lines": lines,
    }
    waiting = make_machine_over_time(cores_used=1.0, free_cores=4.0)
    assert judge(healthy, ran(**beside, machine=waiting)).findings == ()
    at_work = make_machine_over_time(cores_used=1.7, free_cores=4.0)
    assert judge(healthy, ran(**beside, machine=at_work)).findings != ()


OWN = make_steps(label="loop", kind="eager")


def test_steps_without_a_graph_are_not_called_bound_by_compute() -> None:
    assert judge(healthy, ran(steps=OWN, tracings=Tracings())).findings == ()
    assert judge(healthy, ran(steps=OWN, tracings=Tracings(functions=(Tracing(name="step", count=1),)))).findings != ()


@pytest.mark.parametrize("setting", ["run_eagerly", "eager_functions"])
def test_a_setting_that_takes_graphs_away_silences_it_in_fit_too(setting: str) -> None:
    settings = make_settings()
    settings = replace(settings, process={**settings.process, setting: True}, model={"optimizer": "Adam"})
    assert judge(healthy, ran(settings=settings)).findings == ()


def test_a_loop_of_which_no_tracings_are_known_is_no_verdict() -> None:
    assert judge(healthy, ran(steps=OWN, tracings=None)).status is Outcome.INCONCLUSIVE


def test_a_step_of_which_a_part_is_outside_of_the_graph_is_not_called_bound_by_compute() -> None:
    forward, update = StepPart(kind="function", name="forward", share=0.4), StepPart(kind="update", share=0.5)
    steps = make_steps(label="loop", kind="update", parts=(update, forward))
    assert judge(healthy, ran(steps=steps)).findings == ()
    small = replace(steps, parts=(replace(update, share=0.04), forward))
    assert judge(healthy, ran(steps=small)).findings != ()
