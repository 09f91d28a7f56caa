"""GD611: steps without a graph are found by the setting, or by a loop in which nothing was ever traced."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Grade
from gpudoctor.model.report import Outcome
from gpudoctor.model.run import HotLines, Tracing, Tracings
from gpudoctor.testing import judge
from gpudoctor_checks.compute.eager_steps import without_graph
from tests.checks.machines import paired, with_trial
from tests.checks.runs import case, make_line, make_settings, make_steps, ran

OWN = make_steps(label="loop", kind="eager")
CASE = case(
    "GD611",
    {"steps": OWN, "tracings": Tracings(), "settings": None},
    {"steps": OWN, "tracings": Tracings(functions=(Tracing(name="step", count=1),))},
    "steps",
)


def test_run_eagerly_is_named() -> None:
    (finding,) = judge(without_graph, ran(settings=make_settings(run_eagerly=True))).findings
    assert "run_eagerly" in finding.summary
    assert finding.location is not None
    assert finding.location.line == 41


def test_a_few_eager_steps_are_no_verdict() -> None:
    machine = ran(steps=make_steps(label="loop", kind="eager", steps=5), tracings=Tracings())
    assert judge(without_graph, machine).status is Outcome.INCONCLUSIVE


def test_batches_fed_to_keras_are_not_eager() -> None:
    machine = ran(steps=make_steps(label="train_on_batch", kind="call"), tracings=Tracings())
    assert judge(without_graph, machine).findings == ()


def test_without_hot_lines_the_gain_is_what_the_probe_measured() -> None:
    trial = paired("eager", "graph", "eager", speedup=6.0)
    machine = with_trial(ran(settings=make_settings(run_eagerly=True), hot_lines=None), trial, name="eager")
    (finding,) = judge(without_graph, machine).findings
    assert (finding.fixes[0].gain.grade, finding.fixes[0].gain.speedup) == (Grade.PROBE, 6.0)


@pytest.mark.parametrize("share", [0.05, 0.53, 0.99])
@pytest.mark.parametrize("gpu", [False, True])
def test_no_share_of_an_eager_step_is_told_as_a_bound(share: float, *, gpu: bool) -> None:
    lines = HotLines(lines=(make_line(share, activity="tensorflow", leaf="tensorflow.mat_mul"),), sampled_s=3.0)
    machine = ran(steps=make_steps(label="loop", kind="eager", gpu=gpu), tracings=Tracings(), hot_lines=lines)
    (finding,) = judge(without_graph, machine).findings
    gain = finding.fixes[0].gain
    assert (gain.grade, gain.speedup) == (Grade.UNPROVEN, None)
    assert "kernels" in gain.basis


def test_what_the_probe_measured_stands_beside_the_samples_with_its_interval() -> None:
    lines = HotLines(lines=(make_line(0.53, activity="tensorflow", leaf="tensorflow.mat_mul"),), sampled_s=3.0)
    machine = ran(steps=OWN, tracings=Tracings(), hot_lines=lines)
    machine = with_trial(machine, paired("eager", "graph", "eager", speedup=8.85, half=0.6), name="eager")
    (finding,) = judge(without_graph, machine).findings
    gain = finding.fixes[0].gain
    assert (gain.grade, gain.low, gain.high) == (Grade.PROBE, 8.25, 9.45)
    assert "probe, trial eager" in "".join(each.source for each in finding.evidence)


def test_the_slow_arm_of_the_probe_alone_is_no_finding() -> None:
    trial = paired("eager", "graph", "eager", speedup=6.0)
    assert judge(without_graph, with_trial(ran(), trial, name="eager")).findings == ()
