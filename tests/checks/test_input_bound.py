"""GD511: a step that waits for data is told with XProf's classes, its line, and only what applies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.run import Breakdown, HotLines, Pipeline, Stage
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.input.input_bound import waiting
from gpudoctor_checks.pipeline_fixes import pipeline_fixes
from tests.checks.runs import case, make_line, make_pipeline, make_steps, ran

STARVED = {"steps": make_steps(waits=0.71), "pipeline": make_pipeline(kinds=("parallel_map", "cache"))}
CASE = case("GD511", STARVED, {"steps": make_steps(waits=0.04)}, "steps")


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(waiting, machine).findings
    return finding


def test_the_line_of_the_slowest_stage_is_the_place() -> None:
    location = the_finding(ran(**STARVED)).location
    assert location is not None
    assert (location.line, location.snippet) == (30, "ds = ds.map(augment)")


def test_the_change_is_a_diff_of_that_line_with_an_estimate() -> None:
    fix = the_finding(ran(**STARVED)).fixes[0]
    assert fix.text == "- ds = ds.map(augment)\n+ ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)"
    assert (fix.gain.grade, fix.gain.low, fix.gain.high) == (Grade.ESTIMATE, 1.4, 2.6)


def test_only_changes_that_apply_are_advised() -> None:
    machine = ran(steps=make_steps(waits=0.71), pipeline=make_pipeline(python="python function", kinds=("tf_ops",)))
    texts = [fix.text for fix in the_finding(machine).fixes]
    assert len(texts) == 1
    assert not any("prefetch" in text or "augment, num_parallel" in text for text in texts)


def test_five_to_twenty_percent_is_a_note() -> None:
    finding = the_finding(ran(steps=make_steps(waits=0.12), pipeline=make_pipeline()))
    assert (finding.severity, finding.fixes) == (Severity.INFO, ())


def test_a_pipeline_that_is_faster_than_the_wait_is_not_blamed() -> None:
    finding = the_finding(ran(steps=make_steps(waits=0.3), pipeline=make_pipeline(batch_s=0.0005)))
    assert finding.severity is Severity.INFO


def test_without_a_device_plane_the_wait_is_an_upper_bound_of_at_most_sixty_percent_confidence() -> None:
    for plane in ("closed", "not recorded"):
        finding = the_finding(
            ran(steps=make_steps(waits=0.6, device_plane=plane, confidence=0.6), pipeline=make_pipeline())
        )
        assert finding.confidence <= 0.6
        assert "at most" in finding.summary


def test_an_unknown_wait_is_no_pass() -> None:
    steps = replace(make_steps(), shares=Breakdown(input=Missing("steps_per_execution > 1")))
    assert judge(waiting, ran(steps=steps)).status is Outcome.INCONCLUSIVE


def test_an_unknown_graph_still_bounds_the_gain() -> None:
    finding = the_finding(ran(steps=make_steps(waits=0.5), pipeline=None))
    assert [(fix.gain.grade, fix.gain.speedup) for fix in finding.fixes] == [(Grade.BOUND, 2.0)]


LINE = "ds = tf.data.Dataset.from_generator(examples, output_types=(tf.float32, tf.int64)).batch(64)"
ONE_BY_ONE = Stage(
    name="Generator",
    method="from_generator",
    file="train.py",
    line=6,
    callee="examples",
    python="generator",
    visits=64.0,
    batch_s=0.008,
    snippet=LINE,
)


def of_generator(own_share: float) -> Snapshot:
    lines = HotLines(lines=(make_line(own_share, role="pipeline"),) if own_share else (), sampled_s=3.0)
    return ran(
        steps=make_steps(waits=0.8),
        pipeline=Pipeline(stages=(ONE_BY_ONE,), bottleneck=0, batch_s=0.008),
        hot_lines=lines,
    )


def test_a_generator_whose_items_cost_more_than_its_lines_is_told_to_yield_whole_batches() -> None:
    finding = the_finding(of_generator(0.0))
    assert finding.evidence[1].label == "64 items a batch"
    fix = finding.fixes[0]
    assert fix.text.splitlines()[-1] == (
        "+ ds = tf.data.Dataset.from_generator(examples_batches, output_signature=batch_signature)"
    )
    assert (fix.gain.low, fix.gain.high) == (1.25, 5.0)  # 4 of 20 ms go at least, and no step waits at best


def test_a_generator_that_works_is_not() -> None:
    assert "pipeline-batch-first" not in {fix.id for fix in the_finding(of_generator(0.35)).fixes}


def test_a_generator_whose_items_are_padded_is_not_told_to_yield_whole_batches() -> None:
    padded = Stage(name="PaddedBatchV2", method="padded_batch", file="train.py", line=7, visits=1.0)
    machine = of_generator(0.0)
    assert machine.run is not None
    pipeline = Pipeline(stages=(padded, ONE_BY_ONE), bottleneck=1, batch_s=0.008)
    uneven = replace(machine, run=replace(machine.run, pipeline=pipeline))
    assert "pipeline-batch-first" not in {fix.id for fix in the_finding(uneven).fixes}


def test_a_cache_behind_a_shuffle_says_that_the_shuffle_moves() -> None:
    pipeline = make_pipeline(python="python function", kinds=("cache",))
    shuffle = replace(pipeline.stages[2], name="ShuffleV3", method="shuffle", python="")
    (plain,), (moved,) = (
        pipeline_fixes(each) for each in (pipeline, replace(pipeline, stages=(*pipeline.stages, shuffle)))
    )
    assert "shuffle" not in plain.text
    assert "moves behind the cache" in moved.text
    assert moved.text.endswith(".cache().shuffle(buffer_size)")


def test_maps_that_take_longer_to_call_than_to_run_can_be_the_cause_and_are_told_to_take_whole_batches() -> None:
    quick = make_pipeline(batch_s=0.001)  # of 14 ms of waiting
    assert the_finding(ran(steps=make_steps(waits=0.7), pipeline=quick)).severity is Severity.INFO
    called = make_pipeline(batch_s=0.001, kinds=("batch_first", "parallel_map"))
    finding = the_finding(ran(steps=make_steps(waits=0.7), pipeline=called))
    assert finding.severity is Severity.WARNING
    assert [each.id for each in finding.fixes] == ["pipeline-batch-first", "pipeline-parallel-map"]
    assert "augment() on a whole batch" in finding.fixes[0].text


@pytest.mark.parametrize("parallelism", [1.0, 4.0])
@pytest.mark.parametrize("own_share", [0.0, 0.1])
def test_a_cheap_python_function_is_told_to_take_whole_batches_though_its_map_is_parallel(
    parallelism: float, own_share: float
) -> None:
    pipeline = make_pipeline(python="python function", batch_s=0.008)  # 64 calls, as many side by side as there are
    stages = [replace(each, visits=64.0, parallelism=parallelism) if each.python else each for each in pipeline.stages]
    lines = (make_line(own_share, activity="python", leaf="", role="pipeline"),) if own_share else ()
    facts = ran(
        steps=make_steps(waits=0.7),
        pipeline=replace(pipeline, stages=tuple(stages)),
        hot_lines=HotLines(lines=lines, sampled_s=5.0),
    )
    assert the_finding(facts).fixes[0].id == "pipeline-batch-first"


def test_long_calls_that_no_sample_saw_are_not_said_to_do_nothing() -> None:
    pipeline = make_pipeline(python="python function", batch_s=0.016)  # 2 ms each
    finding = the_finding(ran(steps=make_steps(waits=0.7), pipeline=pipeline, hot_lines=HotLines(sampled_s=5.0)))
    assert "pipeline-batch-first" not in {each.id for each in finding.fixes}


def test_what_a_function_asks_of_tensorflow_costs_its_asking_once_a_call() -> None:
    """8 calls of 1 ms: what they ask in 0.1 ms each is paid by calling, of 0.8 most is work of its own."""
    pipeline = make_pipeline(python="python function", batch_s=0.008)
    for share, dear in ((0.04, True), (0.32, False)):
        line = make_line(share, activity="tensorflow", leaf="tensorflow.mul", role="pipeline")
        lines = HotLines(lines=(line,), sampled_s=5.0)
        finding = the_finding(ran(steps=make_steps(waits=0.7), pipeline=pipeline, hot_lines=lines))
        assert ("pipeline-batch-first" in {each.id for each in finding.fixes}) is dear
