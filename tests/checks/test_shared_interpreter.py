"""GD515: Python of the input beside the steps is named where threads that had work did none, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.run import HotLines, Pipeline
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.input.shared_interpreter import sharing
from tests.checks.runs import case, make_line, make_machine_over_time, make_pipeline, make_steps, ran

LINES = HotLines(lines=(make_line(0.7, role="pipeline", activity="python", leaf="split"),), sampled_s=3.0)


def beside(
    *, batch_s: float = 0.014, used: float = 1.04, free: float = 4.0, waits: float = 0.1, python: str = "sequence"
) -> Snapshot:
    """Return steps of 20 ms beside Python that takes that long for a batch, on so many cores."""
    return ran(
        steps=make_steps(waits=waits),
        pipeline=make_pipeline(python=python, batch_s=batch_s, kinds=("tf_ops",)),
        hot_lines=LINES,
        machine=make_machine_over_time(cores_used=used, free_cores=free),
    )


def groups(machine: Snapshot) -> dict[str, object]:
    assert machine.run is not None
    return {name: getattr(machine.run, name) for name in ("steps", "pipeline", "hot_lines", "machine")}


CASE = case("GD515", groups(beside()), groups(beside(used=1.5)), "machine")


def test_what_should_run_at_once_and_did_not_is_told_at_the_inputs_line() -> None:
    (finding,) = judge(sharing, beside()).findings
    assert finding.severity is Severity.WARNING
    assert finding.location is not None
    assert finding.location.line == 17
    # 0.9 of a step in TensorFlow and 0.7 in the input's Python, 1.04 of it at work
    assert finding.share == pytest.approx(0.56)
    assert [each.id for each in finding.fixes] == ["pipeline-tf-ops"]


@pytest.mark.parametrize(
    "machine",
    [
        beside(waits=0.3),  # its own finding: steps wait for it
        beside(python=""),  # operations of TensorFlow's
        beside(batch_s=0.003),  # too short to hold anybody up
        beside(used=1.42),  # both were at work most of the time
    ],
)
def test_steps_that_nothing_of_the_kind_holds_up_are_left_alone(machine: Snapshot) -> None:
    assert judge(sharing, machine).findings == ()


def test_an_input_that_sleeps_leaves_the_interpreter_to_the_steps() -> None:
    asleep = HotLines(lines=(make_line(0.7, role="pipeline", activity="wait", leaf="time.sleep"),), sampled_s=3.0)
    assert judge(sharing, ran(**{**groups(beside()), "hot_lines": asleep})).findings == ()


def test_less_than_half_of_a_step_is_told_as_a_note() -> None:
    (finding,) = judge(sharing, beside(batch_s=0.008, used=0.8)).findings
    assert finding.severity is Severity.INFO
    assert finding.share == pytest.approx(0.4)


def test_on_a_gpu_its_own_work_is_no_waiting_and_unknown_work_no_answer() -> None:
    steps = make_steps(waits=0.1, gpu=True)
    assert judge(sharing, ran(**{**groups(beside()), "steps": steps})).findings == ()
    idle = replace(steps, shares=replace(steps.shares, device=0.2))
    (finding,) = judge(sharing, ran(**{**groups(beside()), "steps": idle})).findings
    assert finding.share == pytest.approx(0.36)
    unseen = replace(steps, shares=replace(steps.shares, device=Missing("no device plane")))
    assert judge(sharing, ran(**{**groups(beside()), "steps": unseen})).status == "inconclusive"


def test_reading_files_leaves_the_interpreter_to_the_steps() -> None:
    """NumPy and Python for six tenths of the calls, files for the rest: 0.42 of a step, and 1.04 of 1.32 at work."""
    reads = make_line(0.28, role="pipeline", activity="io", leaf="numpy.load", line=19)
    works = make_line(0.42, role="pipeline", activity="numpy", leaf="numpy.pad")
    both = HotLines(lines=(works, reads), sampled_s=3.0)
    (finding,) = judge(sharing, ran(**{**groups(beside()), "hot_lines": both})).findings
    assert finding.share == pytest.approx(0.28)
    machine = make_machine_over_time(cores_used=1.2, free_cores=4.0)
    assert judge(sharing, ran(**{**groups(beside()), "hot_lines": both, "machine": machine})).findings == ()


def test_where_the_wait_for_data_is_unknown_or_nothing_is_fetched_nobody_is_accused() -> None:
    steps = make_steps(waits=0.1)
    unknown = replace(steps, input_class="unknown", shares=replace(steps.shares, input=Missing("no window")))
    assert judge(sharing, ran(**{**groups(beside()), "steps": unknown})).status == "inconclusive"
    called = replace(steps, kind="call", label="train_on_batch")
    assert judge(sharing, ran(**{**groups(beside()), "steps": called})).findings == ()


def test_where_no_change_of_the_pipeline_applies_the_bound_is_that_of_the_waiting() -> None:
    bare: Pipeline = make_pipeline(python="generator", batch_s=0.014)
    (finding,) = judge(sharing, ran(**{**groups(beside()), "pipeline": bare})).findings
    assert finding.fixes[0].gain.speedup == pytest.approx(2.27, abs=0.01)


@pytest.mark.parametrize(
    ("python", "visits", "batches"), [("sequence", 1.004, 1), ("generator", 1.004, 1), ("generator", 8.0, 0)]
)
def test_what_gives_whole_batches_is_replaced_by_what_batches(python: str, visits: float, batches: int) -> None:
    pipeline = make_pipeline(python=python, batch_s=0.014, kinds=("tf_ops",))
    stages = tuple(replace(each, visits=visits) if each.python else each for each in pipeline.stages)
    (finding,) = judge(sharing, ran(**{**groups(beside()), "pipeline": replace(pipeline, stages=stages)})).findings
    assert finding.fixes[0].text.count(".batch(batch_size)") == batches


def test_where_no_figures_of_the_stages_are_known_the_users_own_batch_is_not_doubled() -> None:
    pipeline = make_pipeline(python="generator", batch_s=0.014, kinds=("tf_ops",))
    stages = tuple(replace(each, visits=1.0, elements=0) if each.python else each for each in pipeline.stages)
    (finding,) = judge(sharing, ran(**{**groups(beside()), "pipeline": replace(pipeline, stages=stages)})).findings
    assert ".batch(batch_size)" not in finding.fixes[0].text


def test_where_others_had_the_cores_nobody_knows_who_waited_for_what() -> None:
    assert judge(sharing, beside(free=1.1)).status == "inconclusive"


def test_a_loop_that_sleeps_wants_no_core() -> None:
    """Half of each step is a sleep between two; the rest, and the input's Python, are at work."""
    asleep = make_line(0.5, activity="wait", leaf="time.sleep", function="on_train_batch_end")
    lines = HotLines(lines=(*LINES.lines, asleep), sampled_s=3.0)
    machine = make_machine_over_time(cores_used=1.0, free_cores=4.0)
    here = {**groups(beside()), "steps": make_steps(waits=0.1, host=0.5), "hot_lines": lines, "machine": machine}
    assert judge(sharing, ran(**here)).findings == ()
    busy = HotLines(lines=(*LINES.lines, replace(asleep, activity="python")), sampled_s=3.0)
    assert judge(sharing, ran(**{**here, "hot_lines": busy})).findings != ()
