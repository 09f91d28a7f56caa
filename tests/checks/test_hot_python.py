"""GD513: NumPy and Python are named where they hold the steps: in the loop, or called back by tf.data."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.run import HotLine, HotLines, Pipeline, Stage
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.batch_first import Calls, batch_first, calls_of
from gpudoctor_checks.input.hot_python import hot
from gpudoctor_checks.input.loops_own_work import out_of_the_loop
from tests.checks.runs import SCRIPT, case, make_line, make_pipeline, make_steps, ran

IN_LOOP = HotLines(lines=(make_line(0.5),), sampled_s=3.0)
CALLED = HotLines(
    lines=(make_line(0.7, role="pipeline"), make_line(0.2, role="pipeline", leaf="numpy.flip", line=19)), sampled_s=3.0
)
CASE = case(
    "GD513",
    {"hot_lines": IN_LOOP, "steps": make_steps(host=0.5, label="loop")},
    {"hot_lines": HotLines(lines=(make_line(0.15),), sampled_s=3.0), "steps": make_steps(host=0.15, label="loop")},
    "hot_lines",
)


def called_back(python: str = "python function", waits: float = 0.7, lines: HotLines = CALLED) -> Snapshot:
    return ran(steps=make_steps(waits=waits), pipeline=make_pipeline(python=python, kinds=("tf_ops",)), hot_lines=lines)


def test_the_hot_line_of_the_loop_is_the_place_with_a_bound() -> None:
    (finding,) = judge(hot, CASE.fires).findings
    assert finding.location is not None
    assert (finding.location.line, finding.fixes[0].gain.speedup) == (17, 2.0)


def test_a_mapped_numpy_function_is_shown_at_its_map_with_its_lines_as_evidence() -> None:
    (finding,) = judge(hot, called_back()).findings
    assert finding.location is not None
    assert finding.location.line == 30
    assert [each.label for each in finding.evidence[1:]] == ["train.py:17", "train.py:19"]
    assert "num_parallel_calls" not in finding.fixes[0].text.splitlines()[0]


def test_what_nobody_waits_for_is_no_finding() -> None:
    assert judge(hot, called_back(waits=0.1)).findings == ()


def test_a_function_that_sleeps_is_the_pipelines_matter() -> None:
    lines = HotLines(lines=(make_line(0.8, role="pipeline", activity="wait", leaf="time.sleep"),), sampled_s=3.0)
    assert judge(hot, called_back(lines=lines)).findings == ()


def test_a_generator_is_the_pipelines_matter() -> None:
    assert judge(hot, called_back(python="generator")).findings == ()


def test_callbacks_and_the_collecting_of_garbage_are_no_work_in_the_loop() -> None:
    callback = make_line(0.6, function="on_epoch_end")
    garbage = make_line(0.6, activity="python", leaf="", file=SCRIPT, line=41)
    for line in (callback, garbage):
        machine = ran(steps=make_steps(host=0.6, label="loop"), hot_lines=HotLines(lines=(line,), sampled_s=3.0))
        assert judge(hot, machine).findings == ()


CALLS = Calls(count=64, call_s=0.00025, own_s=0.00005)
SMALL = HotLines(lines=(make_line(0.1, role="pipeline"),), sampled_s=3.0)  # 2 ms of a step of 20; the map takes 15


def test_calls_that_cost_more_than_what_they_do_are_named_and_called_once_a_batch_instead() -> None:
    (finding,) = judge(hot, called_back(lines=SMALL)).findings
    assert finding.summary == "Calling Python for each example holds the input: augment, train.py:17."
    (told,) = [each for each in finding.evidence if each.label == "8 calls a batch"]
    assert told.value == "1875 us each, 250 us of them in its own lines"
    once = finding.fixes[0]
    assert once.id == "pipeline-batch-first"
    # of 20 ms at least a third of what the calls cost goes (13 ms); at best the 6 ms are left that are no waiting, less a
    # quarter of each call, which ran on the step's own cores
    assert (once.gain.low, once.gain.high) == (1.27, 8.89)


def test_a_function_that_is_most_of_its_calls_is_not_told_to_batch_first() -> None:
    (finding,) = judge(hot, called_back()).findings
    assert [each.id for each in finding.fixes] == ["pipeline-tf-ops"]


def test_a_batch_on_the_maps_own_line_goes_before_it() -> None:
    line = "ds = ds.shuffle(9).map(load(f, 2)).batch(64, True).prefetch(1)"
    once = batch_first(
        Stage(name="Map", snippet=line, line=3, callee="load", batch_s=0.015), CALLS, make_steps(waits=0.7)
    )
    assert once[0].text.splitlines()[-1] == "+ ds = ds.shuffle(9).batch(64, True).map(load_batch).prefetch(1)"


def test_a_batch_further_behind_on_the_line_keeps_what_stands_between() -> None:
    line = "ds = ds.map(load).shuffle(9).batch(64)"
    once = batch_first(
        Stage(name="Map", snippet=line, line=3, callee="load", batch_s=0.015), CALLS, make_steps(waits=0.7)
    )
    assert once[0].text.splitlines()[-1] == "+ ds = ds.shuffle(9).batch(64).map(load_batch)"


def test_a_batch_on_another_line_or_behind_a_second_map_is_shown_as_a_line_of_its_own() -> None:
    for line in ("ds = ds.map(load)", "ds = ds.map(load).map(label).batch(64)"):
        stage = Stage(name="Map", snippet=line, line=3, callee="load", batch_s=0.015)
        once = batch_first(stage, CALLS, make_steps(waits=0.7))
        assert once[0].text.splitlines()[-1] == "+ ds = ds.batch(batch_size).map(load_batch)"


def test_a_map_that_was_fused_with_its_batch_is_called_for_each_that_comes_in() -> None:
    stages = (
        Stage(name="MapAndBatch", callee="load", python="python function", visits=1.0, batch_s=0.016),
        Stage(name="Shuffle", visits=64.0),
    )
    calls = calls_of(Pipeline(stages=stages, bottleneck=0), SMALL, make_steps(waits=0.7))
    assert calls is not None
    assert (calls.count, calls.call_s) == (64, 0.00025)


def test_batches_that_the_loop_makes_itself_may_be_made_beside_the_steps() -> None:
    """Side by side the longer of the two is left: of 30 % batch and 70 % step the step."""
    lines = HotLines(lines=(make_line(0.3),), sampled_s=3.0)
    (finding,) = judge(hot, ran(steps=make_steps(host=0.3, label="loop", kind="function"), hot_lines=lines)).findings
    assert [each.id for each in finding.fixes] == ["out-of-the-loop", "batches-beside-steps"]
    assert finding.fixes[1].gain.speedup == 1.43


def test_the_head_of_a_loop_is_not_taken_out_with_what_stands_behind_it() -> None:
    line = replace(make_line(0.5), snippet="for i in range(9): step(make(i))")
    fix = next(out_of_the_loop(line, 0.5, make_steps()))
    assert "- for" not in fix.text
    assert fix.text.startswith("+ # as_tf")


def test_the_line_that_takes_most_in_all_is_named_though_another_has_the_dearest_call() -> None:
    rows = (("np.array", 21, 0.20), ("random.random", 17, 0.19), ("jitter", 17, 0.06))
    lines = HotLines(
        lines=tuple(
            HotLine(file="train.py", line=at, function="make", role="main", activity="python", leaf=leaf, share=share)
            for leaf, at, share in rows
        ),
        sampled_s=3.0,
    )
    assert [(each.line, each.leaf) for each in lines.hottest("main", "python")] == [
        (17, "random.random"),
        (17, "jitter"),
        (21, "np.array"),
    ]
