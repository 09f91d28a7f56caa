"""The report of a run in words: shares with their class, the energy of a step, and diffs that name what is still to be written."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.missing import Missing
from gpudoctor.model.phases import Calls, Tracing, Tracings
from gpudoctor.model.run import Breakdown, HotLines, Run
from gpudoctor.present import run_text
from gpudoctor_checks.pipeline_fixes import pipeline_fixes
from tests.checks.runs import (
    make_gpu_over_time,
    make_line,
    make_machine_over_time,
    make_pipeline,
    make_run,
    make_settings,
    make_steps,
    ran,
)


def told(run: Run) -> str:
    """Return the report of a run as text."""
    snapshot = replace(ran(), run=run)
    checks = [each for each in registry.load().checks if each.needs_run]
    return run_text.render(diagnose(snapshot, checks, level="run"))


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (0.71, "HIGHLY INPUT-BOUND: 71% of 20 ms/step waits for data\n"),
        (0.23, "HIGHLY INPUT-BOUND: 23% of 20 ms/step waits for data (>=20%)\n"),
        (0.07, "MODERATELY INPUT-BOUND: 7% of 20 ms/step waits for data (5%-20%)\n"),
        (0.02, "NOT INPUT-BOUND: 2% of 20 ms/step waits for data\n"),
    ],
)
def test_a_class_that_sounds_stronger_than_the_share_is_explained(wait: float, words: str) -> None:
    assert words in told(make_run(steps=make_steps(waits=wait)))


@pytest.mark.parametrize(("host", "words"), [(0.71, "HOST-BOUND: 71% of 20 ms/step"), (0.1, "NOT HOST-BOUND: 10%")])
def test_of_steps_that_fetch_nothing_the_users_own_python_is_told_in_place_of_a_wait(host: float, words: str) -> None:
    shares = Breakdown(input=Missing("made in Python"), host=host, tracing=0.0, compute=1 - host)
    steps = replace(make_steps(label="loop", kind="function", agree=True), shares=shares, input_class="unknown")
    text = told(make_run(steps=replace(steps, stamped_host_share=host, window_host_share=host + 0.02)))
    assert words in text
    assert "none is fetched from tf.data" in text
    assert f"two methods agree ({host:.0%}, {host + 0.02:.0%})" in text
    assert "INPUT" not in text


@pytest.mark.parametrize(
    ("wait", "host", "words"),
    [
        (0.02, 0.48, "HOST-BOUND: 48% of 20 ms/step is Python, 2% waits for data\n"),
        (0.07, 0.48, "HOST-BOUND: 48% of 20 ms/step is Python, 7% waits for data\n"),
        (0.02, 0.19, "NOT INPUT-BOUND: 2% of 20 ms/step waits for data\n"),
        (0.23, 0.48, "HIGHLY INPUT-BOUND: 23% of 20 ms/step waits for data (>=20%)\n"),
    ],
)
def test_steps_that_python_holds_are_not_only_said_to_be_not_input_bound(wait: float, host: float, words: str) -> None:
    steps = make_steps(waits=wait)
    shares = Breakdown(input=wait, host=host, tracing=0.0, compute=1 - wait - host)
    assert words in told(make_run(steps=replace(steps, shares=shares)))


def test_epochs_that_callbacks_hold_up_are_told_beside_the_verdict_on_the_steps() -> None:
    slow = Calls(epochs=3, steady_epochs=2, epoch_s=10.0, epoch_end_s=4.5)
    starved = make_run(calls=slow, steps=make_steps(waits=0.9))
    assert "HIGHLY INPUT-BOUND: 90% of 20 ms/step waits for data\n" in told(starved)
    assert "besides its steps, 45% of the time is callbacks between epochs\n" in told(starved)
    assert "callbacks between epochs" not in told(make_run(calls=replace(slow, epoch_end_s=0.5)))


def test_epochs_that_callbacks_hold_up_more_than_anything_in_the_steps_are_the_verdict() -> None:
    slow = Calls(epochs=3, steady_epochs=2, epoch_s=10.0, epoch_end_s=7.3)
    text = told(make_run(calls=slow, steps=make_steps(waits=0.08)))
    first = "CALLBACK-BOUND: 73% of the time is callbacks between epochs; steps:\n"
    assert f"{first}MODERATELY INPUT-BOUND: 8% of 20 ms/step waits for data" in text
    assert "besides" not in text
    quick = Calls(epochs=100, steady_epochs=100, epoch_s=5.0, epoch_end_s=2.0)
    assert "CALLBACK-BOUND" not in told(make_run(calls=quick, steps=make_steps(waits=0.08)))


def test_the_energy_of_a_step_stands_beside_the_power_and_who_else_is_on_the_gpu() -> None:
    gpu = make_gpu_over_time(joules_per_step=6.84, power_w=84.0, power_limit_w=300.0, foreign_processes=1)
    text = told(
        make_run(machine=make_machine_over_time(gpu), settings=make_settings(gpus=1), steps=make_steps(gpu=True))
    )
    assert "energy 6.84 J/step" in text
    assert "84 of 300 W" in text
    assert "1 other process on it" in " ".join(text.split())


def test_a_statement_that_goes_on_is_not_replaced_by_one_that_gives_its_value_elsewhere() -> None:
    pipeline = make_pipeline(python="python function", kinds=("tf_ops",))
    snippet = "return base.map("
    stages = tuple(replace(each, snippet=snippet) if each.callee else each for each in pipeline.stages)
    (fix,) = pipeline_fixes(replace(pipeline, stages=stages))
    assert fix.text.splitlines() == [
        f"  {snippet}",
        "+ # augment_tf: yours to write: augment() (:12) with tf.* ops",
        "+ # the statement that begins here: ds.map(augment_tf, num_parallel_calls=tf.data.AUTOTUNE)",
    ]


@pytest.mark.parametrize(
    ("snippet", "call"),
    [
        ("ds = ds.map(augment).batch(8)", "ds = ds.map(augment_tf, num_parallel_calls=tf.data.AUTOTUNE).batch(8)"),
        (
            "x = y.map(lambda p: tf.numpy_function(augment, [p], tf.float32))",
            "x = y.map(augment_tf, num_parallel_calls=tf.data.AUTOTUNE)",
        ),
        ("ds = ds.map(", "ds = ds.map(augment_tf, num_parallel_calls=tf.data.AUTOTUNE)"),
    ],
)
def test_a_function_that_must_be_written_is_said_to_be_yours(snippet: str, call: str) -> None:
    pipeline = make_pipeline(python="python function", kinds=("tf_ops",))
    stages = tuple(replace(each, snippet=snippet) if each.callee else each for each in pipeline.stages)
    (fix,) = pipeline_fixes(replace(pipeline, stages=stages))
    assert fix.text.splitlines() == [
        f"- {snippet}",
        "+ # augment_tf: yours to write: augment() (:12) with tf.* ops",
        f"+ {call}",
    ]


def test_the_parts_of_a_step_fit_their_line_with_shorter_bars() -> None:
    shares = Breakdown(input=0.04, host=0.33, tracing=0.63, compute=0.0)
    (line,) = [each for each in told(make_run(steps=make_steps(shares=shares))).splitlines() if "(ms)" in each]
    assert line.endswith("tracing 12.6 ########### (ms)")
    assert len(line) <= run_text.WIDTH


def test_several_fixes_of_one_pipeline_bring_no_more_than_a_perfect_one() -> None:
    pipeline = make_pipeline(python="python function", kinds=("tf_ops", "cache", "perfect"))
    text = told(make_run(steps=make_steps(waits=0.8, host=0.18), pipeline=pipeline))
    assert "a perfect input pipeline:" in text
    assert "all of them together" not in text


@pytest.mark.parametrize("graph", [True, False])
def test_a_bound_of_all_fixes_is_told_only_where_each_leaves_compute_as_it_is(*, graph: bool) -> None:
    traced = (Tracing(name="step", count=1),) if graph else ()
    lines = HotLines(lines=(make_line(0.3), make_line(0.3, function="on_train_batch_end", line=22)), sampled_s=3.0)
    steps = make_steps(label="loop", kind="eager", host=0.6)
    text = told(make_run(steps=steps, tracings=Tracings(functions=traced), hot_lines=lines, calls=Calls()))
    assert ("GD611" in text) is not graph
    assert ("all of them together" in text) is graph


def test_what_does_not_fit_is_counted_with_the_command_that_shows_it() -> None:
    run = make_run(steps=make_steps(host=0.8, label="loop"), hot_lines=HotLines(lines=(make_line(0.8),), sampled_s=3.0))
    checks = [each for each in registry.load().checks if each.needs_run]
    made = diagnose(replace(ran(), run=run), checks, level="run")
    many = replace(made, fixes=tuple(replace(made.fixes[0], id=f"fix-{number}") for number in range(9)))
    short = run_text.render(many)
    assert re.search(r"^   \d more: gpudoctor report 7f3a -v$", short, re.MULTILINE)
    whole = run_text.render(many, verbose=True)
    assert " more: " not in whole
    assert whole.count(made.fixes[0].title) == 9
