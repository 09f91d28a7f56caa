"""What is said of a command while it runs is no verdict: what it has not done yet, it may still do."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.missing import Missing
from gpudoctor.profile.outcome import remarks
from tests.profile.timelines import recorded

BEGUN = recorded("numpy-function")
WHOLE = replace(BEGUN, outcome="running", heartbeat_at=BEGUN.started_at + 3.4, steps=(), windows=())


def test_a_command_that_has_not_imported_tensorflow_yet_is_starting() -> None:
    (process,) = WHOLE.processes
    early = replace(WHOLE, processes=(replace(process, tensorflow_version=Missing("not imported")),))
    assert remarks(early)[0] == "starting: TensorFlow not imported yet (0:03)"
    over = replace(early, outcome="ended")
    assert "never imported TensorFlow" in remarks(over)[0]


def test_each_stage_before_the_first_step_has_its_words() -> None:
    assert remarks(WHOLE)[0] == "starting: TensorFlow imported, no training step yet (0:03)"
    assert remarks(replace(WHOLE, processes=()))[0] == "starting: no Python process with the recorder yet (0:03)"


def test_a_run_that_trains_has_no_remark() -> None:
    assert remarks(replace(BEGUN, outcome="running")) == ()


def test_a_run_without_steps_says_what_kind_of_training_is_not_seen() -> None:
    (process,) = WHOLE.processes
    sessions = replace(WHOLE, outcome="ended", processes=(replace(process, limits=("it runs TensorFlow 1 graphs",)),))
    assert remarks(sessions)[0] == "TensorFlow was imported, but no training step was seen: it runs TensorFlow 1 graphs"


def test_a_run_without_steps_says_which_loops_are_counted() -> None:
    (said,) = remarks(replace(WHOLE, outcome="ended"))
    assert "no training step was seen: counted are fit, train_on_batch, loops over a tf.data.Dataset" in said
    assert "steps of your own with a GradientTape or an optimizer" in said


def test_a_process_that_trained_and_never_came_to_its_end_is_told() -> None:
    (process,) = BEGUN.processes
    ended = replace(BEGUN, outcome="ended")
    without = replace(ended, processes=(replace(process, ended_at=Missing("it ran no exit handlers")),))
    assert any("no end of Python" in each for each in remarks(without))
    assert remarks(replace(ended, processes=(replace(process, ended_at=process.started_at + 9.0),))) == ()
