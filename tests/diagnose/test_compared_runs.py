"""Two recorded trainings: whether the step became shorter comes first, and the gate on step times holds for them, too."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.comparison import compare
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.missing import Missing
from gpudoctor.model.phases import Calls
from gpudoctor.model.report import Report
from gpudoctor.present.comparison import as_text
from tests.profile.timelines import recorded

BEFORE = report_of_run(recorded("serial-map"), registry.load().checks)


def taking(factor: float, label: str = "fit") -> Report:
    """Return the same run with each step so many times as long."""
    run = BEFORE.snapshot.run
    assert run is not None
    assert run.steps is not None
    assert not isinstance(run.steps.step_s, Missing)
    steps = replace(run.steps, step_s=run.steps.step_s * factor, label=label)
    return replace(BEFORE, snapshot=replace(BEFORE.snapshot, run=replace(run, steps=steps)))


def test_what_became_of_the_step_comes_first() -> None:
    text = as_text(compare(BEFORE, taking(0.25)))
    assert text.startswith("STEP  ")
    assert text.splitlines()[0].endswith(": 4 times as fast")
    assert "  waits for data " in text
    assert "One run against one run" in text
    assert "TRIALS" not in text


def test_a_longer_step_is_said_to_be_longer_and_does_not_pass_the_gate() -> None:
    compared = compare(BEFORE, taking(1.5))
    text = as_text(compared, percent=10)
    assert text.splitlines()[0].endswith(": 1.5 times as long")
    assert [each.trial for each in compared.regressions(10)] == ["run"]
    assert "50.0 % slower, 10 % allowed" in text


def test_a_run_against_a_machine_without_one_has_no_step_to_compare() -> None:
    machine = replace(BEFORE, snapshot=replace(BEFORE.snapshot, run=None))
    compared = compare(BEFORE, machine)
    assert compared.step is None
    assert not compared.comparable
    assert compared.why_not.startswith("the second holds no trial")


def test_a_run_that_never_came_to_train_is_not_told_as_a_faster_one() -> None:
    compared = compare(BEFORE, taking(0.25, label="evaluate"))
    assert compared.step is None
    assert not compared.paces
    assert "no loop of the same kind" in compared.why_not


def test_what_callbacks_at_the_ends_of_epochs_took_is_told_beside_the_step() -> None:
    """A step is as long as before where the callbacks are gone that held up the epochs."""
    run = BEFORE.snapshot.run
    assert run is not None
    held = replace(run, calls=Calls(epochs=5, steady_epochs=4, epoch_s=10.0, epoch_end_s=3.6))
    slow = replace(BEFORE, snapshot=replace(BEFORE.snapshot, run=held))
    assert "  ends of epochs  36% ->   0% of an epoch" in as_text(compare(slow, BEFORE))
    assert "ends of epochs" not in as_text(compare(BEFORE, BEFORE))


def test_steps_of_unlike_batches_are_told_by_their_examples_and_pass_no_gate() -> None:
    run = taking(3.1).snapshot.run
    assert run is not None
    assert run.pipeline is not None
    first, *others = run.pipeline.stages
    larger = replace(run.pipeline, stages=(replace(first, element_bytes=first.element_bytes * 8), *others))
    compared = compare(BEFORE, replace(BEFORE, snapshot=replace(BEFORE.snapshot, run=replace(run, pipeline=larger))))
    assert "  a batch is 8 times as large: 2.6 times the examples a second" in as_text(compared)
    assert not compared.comparable
    assert compared.why_not == "a batch of the one is not as large as of the other"
