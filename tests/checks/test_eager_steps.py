"""GD611: steps without a graph are found by the setting, or by a loop in which nothing was ever traced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Grade, Severity
from gpudoctor.model.phases import Tracing, Tracings
from gpudoctor.model.report import Outcome
from gpudoctor.model.run import HotLines, StepPart
from gpudoctor.testing import judge
from gpudoctor_checks.compute.eager_steps import without_graph
from tests.checks.machines import paired, with_trial
from tests.checks.runs import SCRIPT, case, make_line, make_settings, make_steps, ran

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


FORWARD = StepPart(kind="function", name="forward", file=SCRIPT, line=40, share=0.2)
UPDATE = StepPart(kind="update", name="Adam.apply_gradients", file=SCRIPT, line=43, share=0.5)
GRADIENT = StepPart(kind="gradient", name="GradientTape.gradient", file=SCRIPT, line=42, share=0.06)


def test_of_a_step_that_is_in_a_graph_in_part_what_is_not_is_named() -> None:
    steps = make_steps(label="loop", kind="update", parts=(UPDATE, FORWARD, GRADIENT))
    (finding,) = judge(
        without_graph, ran(steps=steps, tracings=Tracings(functions=(Tracing(name="forward"),)))
    ).findings
    assert "Adam.apply_gradients (train.py:43) and GradientTape.gradient (train.py:42) are not" in finding.summary
    assert finding.severity is Severity.WARNING
    assert finding.share == pytest.approx(0.56)
    assert finding.location is not None
    assert finding.location.line == 43
    assert any("forward at train.py:40" in str(each.value) for each in finding.evidence)


@pytest.mark.parametrize(("share", "severity"), [(0.19, Severity.INFO), (0.2, Severity.WARNING)])
def test_a_small_part_outside_of_the_graph_is_a_note(share: float, severity: Severity) -> None:
    parts = FORWARD, replace(UPDATE, share=share)
    (finding,) = judge(without_graph, ran(steps=make_steps(label="loop", kind="function", parts=parts))).findings
    assert finding.severity is severity


def test_a_part_outside_of_the_graph_that_takes_next_to_nothing_is_silent() -> None:
    parts = FORWARD, replace(UPDATE, share=0.04)
    assert judge(without_graph, ran(steps=make_steps(label="loop", kind="function", parts=parts))).findings == ()


def test_a_loop_whose_gradient_and_update_are_eager_has_no_graph_whatever_else_was_traced() -> None:
    steps = make_steps(label="loop", kind="update", parts=(UPDATE, GRADIENT))
    machine = ran(steps=steps, tracings=Tracings(functions=(Tracing(name="other"),)))
    (finding,) = judge(without_graph, machine).findings
    assert "No tf.function in the loop" in finding.summary
