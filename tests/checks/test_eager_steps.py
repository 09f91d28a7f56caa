"""GD611: steps without a graph are found by the setting, or by a loop in which nothing was ever traced."""

from __future__ import annotations

from gpudoctor.model.finding import Grade
from gpudoctor.model.report import Outcome
from gpudoctor.model.run import Tracing, Tracings
from gpudoctor.testing import judge
from gpudoctor_checks.compute.eager_steps import without_graph
from tests.checks.machines import paired, with_trial
from tests.checks.runs import case, make_settings, make_steps, ran

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


def test_the_slow_arm_of_the_probe_alone_is_no_finding() -> None:
    trial = paired("eager", "graph", "eager", speedup=6.0)
    assert judge(without_graph, with_trial(ran(), trial, name="eager")).findings == ()
