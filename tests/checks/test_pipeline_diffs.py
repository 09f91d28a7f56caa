"""The diffs of a pipeline are of the user's own line, and what they leave is a pipeline that works."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.run import Change, Pipeline, Stage
from gpudoctor_checks.pipeline_diffs import cached, function_of, successor_of, swapped
from gpudoctor_checks.pipeline_fixes import pipeline_fixes

REPEAT = Stage(name="ForeverRepeat", method="repeat", line=3)


@pytest.mark.parametrize(
    ("line", "behind"),
    [
        ("ds = ds.map(scale).batch(64)", "ds = ds.batch(64).map(scale_batch)"),
        (
            "ds = ds.map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(2)",
            "ds = ds.batch(64).map(scale_batch, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)",
        ),
        ("ds = ds.map(scale).shuffle(9).batch(64)", "ds = ds.shuffle(9).batch(64).map(scale_batch)"),
        ("ds = ds.map(scale)", "ds = ds.batch(batch_size).map(scale_batch)"),
    ],
)
def test_a_map_goes_behind_the_batch(line: str, behind: str) -> None:
    text = swapped(Stage(name="Map", method="map", callee="scale", line=3, snippet=line))
    assert text.splitlines()[0] == f"- {line}"
    assert "# scale_batch: yours to write: scale() on a whole batch, whose shapes have one dimension more" in text
    assert text.splitlines()[-1] == f"+ {behind}"


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("lambda a, b: (a * 2, b)", ""),
        ("lambda a, b: (a, b), num_parallel_calls=4", ", num_parallel_calls=4"),
        ("lambda r: label(tf.py_function(f, [r], tf.float32)), num_parallel_calls=A", ", num_parallel_calls=A"),
    ],
)
def test_the_commas_of_a_lambda_are_its_own(arguments: str, kept: str) -> None:
    stage = Stage(name="Map", method="map", callee="<lambda>", line=3, snippet=f"ds = ds.map({arguments}).batch(64)")
    assert swapped(stage).splitlines()[-1] == f"+ ds = ds.batch(64).map(f_batch{kept})"


def test_a_lambda_that_calls_python_back_is_named_by_what_it_calls() -> None:
    stage = Stage(name="Map", method="map", callee="<lambda>", python="python function", python_function="augment")
    assert (function_of(stage), successor_of(stage, "tf")) == ("augment", "augment_tf")
    named = Stage(name="Map", method="map", callee="load", python="python function", python_function="augment")
    assert (function_of(named), successor_of(named, "tf")) == ("augment", "load_tf")
    assert function_of(Stage(name="Map", callee="Reader.load")) == "load"


@pytest.mark.parametrize(
    ("line", "inserted"),
    [
        ("ds = ds.map(load).repeat().batch(8)", "ds = ds.map(load).cache().repeat().batch(8)"),
        ("ds = ds.map(load)", "ds = ds.map(load).cache()"),
        (".map(load)", ".map(load).cache()"),
    ],
)
def test_a_cache_stands_right_behind_the_map_before_any_repeat(line: str, inserted: str) -> None:
    text = cached(Stage(name="Map", method="map", line=3, snippet=line), ())
    assert text == f"- {line}\n+ {inserted}"


def test_a_repeat_in_front_of_the_map_moves_behind_the_cache_which_would_never_fill() -> None:
    line = "ds = tf.data.Dataset.range(9).repeat().map(load).batch(8)"
    text = cached(Stage(name="Map", method="map", line=3, snippet=line), (REPEAT,))
    assert text.splitlines()[-1] == "+ ds = tf.data.Dataset.range(9).map(load).cache().repeat().batch(8)"
    apart = cached(Stage(name="Map", method="map", line=5, snippet="ds = ds.map(load)"), (REPEAT,))
    assert "+ # the .repeat() of line 3 moves behind the cache: in front of it the cache never fills" in apart
    assert apart.splitlines()[-1] == "+ ds = ds.map(load).cache().repeat()"


def test_a_shuffle_in_front_of_the_map_moves_behind_the_cache_with_its_arguments() -> None:
    line = "ds = tf.data.Dataset.from_tensor_slices(files).shuffle(600, seed=1).map(load).batch(20)"
    text = cached(Stage(name="Map", method="map", line=3, snippet=line), (Stage(name="ShuffleV3", line=3),))
    wanted = "+ ds = tf.data.Dataset.from_tensor_slices(files).map(load).cache().shuffle(600, seed=1).batch(20)"
    assert text.splitlines()[-1] == wanted


def test_a_call_that_goes_on_below_its_line_is_told_where_the_cache_belongs() -> None:
    text = cached(Stage(name="Map", method="map", line=3, snippet="ds = ds.map("), ())
    assert text == "+ ds = ds.cache()  # right behind the map of line 3, before any .repeat()"


def test_of_several_maps_on_a_line_the_one_that_is_meant_is_changed_and_none_where_it_is_not_known() -> None:
    line = "ds = ds.map(lambda i: i + 1).map(heavy).map(lambda a: a).batch(16)"
    heavy = Stage(name="Map", method="map", line=3, snippet=line, callee="heavy")
    text = cached(heavy, ())
    assert text.splitlines()[-1] == "+ ds = ds.map(lambda i: i + 1).map(heavy).cache().map(lambda a: a).batch(16)"
    unknown = replace(heavy, callee="<lambda>")
    assert "right behind the map of line 3" in cached(unknown, ())


def test_what_an_interleave_opens_runs_side_by_side_by_the_interleave() -> None:
    line = "ds = ds.interleave(readers, cycle_length=4)"
    slow = Stage(name="Map", method="interleave", line=3, snippet=line, callee="readers", batch_s=0.02)
    pipeline = Pipeline(
        stages=(slow,), bottleneck=0, changes=(Change(kind="parallel_map", stage=0, low=1.0, high=2.0, basis="a test"),)
    )
    (fix,) = pipeline_fixes(pipeline)
    assert fix.text.endswith("+ ds = ds.interleave(readers, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)")
    assert fix.title.startswith("Parallel interleave")
