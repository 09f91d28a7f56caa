"""GD512: files are named where reading holds the input up, and only there."""

from __future__ import annotations

from gpudoctor.model.run import HotLines
from gpudoctor.testing import judge
from gpudoctor_checks.input.slow_reads import reading
from tests.checks.runs import case, make_line, make_pipeline, make_steps, ran

IO = HotLines(lines=(make_line(0.8, role="pipeline", activity="io", leaf="stream.read"),), sampled_s=3.0)
WORK = HotLines(lines=(make_line(0.8, role="pipeline"), make_line(0.1, role="pipeline", activity="io")), sampled_s=3.0)
STARVED = {"steps": make_steps(waits=0.6), "pipeline": make_pipeline()}
CASE = case("GD512", {**STARVED, "hot_lines": IO}, {**STARVED, "hot_lines": WORK}, "steps")


def test_a_reader_that_is_the_slowest_stage_is_found_without_stacks() -> None:
    (finding,) = judge(
        reading, ran(steps=make_steps(waits=0.6), pipeline=make_pipeline(name="TFRecord"), hot_lines=None)
    ).findings
    assert finding.location is not None
    assert finding.location.line == 30


def test_the_line_that_reads_is_the_place() -> None:
    (finding,) = judge(reading, CASE.fires).findings
    assert finding.location is not None
    assert finding.location.line == 17


def test_reading_that_nobody_waits_for_is_no_finding() -> None:
    assert judge(reading, ran(hot_lines=IO)).findings == ()
