"""Windows in a session: their steps are not steady ones, they judge the stamps, and closed counters cost confidence."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.missing import Missing
from gpudoctor.model.run import StepTimes
from gpudoctor.model.session import GpuSample, Session, WindowRecord
from gpudoctor.present import run_text
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.record import SessionWriter, read_session, read_trace, spool_folder
from gpudoctor.profile.timeline import analyse
from gpudoctor.profile.windows import window_share, window_shares
from tests.profile.test_windows import FETCH, KERNEL, STEPS, near, plane, seen
from tests.profile.timelines import PROCESS, START, loop, readings, session

WORK, SCANNED = "ExecutorState::Process", "ReduceIterator::Root::Prefetch::Scan"


def window(start: float, end: float, number: int = 1) -> WindowRecord:
    return WindowRecord(
        process=PROCESS, window=number, started_at=START + start, ended_at=START + end, label="fit", status="ok"
    )


def waited(share: float, *windows: WindowRecord, during: float | None = None) -> Session:
    """Return 8 s of 100 steps each that wait a share; `during` the fifth second, which is slow, another one."""
    rows, wait, count = [(0.5, 1, 0.0)], 0.0, 1
    for second in range(1, 9):
        slow = second == 5
        wait += (during if slow and during is not None else share) * 1.0
        count += 20 if slow else 100
        rows.append((second + 0.5, count, wait))
    return replace(session(loop(), steps=readings(*rows)), windows=windows)


def steps_of(recorded: Session, *shares: WindowShare) -> StepTimes:
    steps = analyse(recorded, shares).steps
    assert steps is not None
    return steps


def share(value: float, *, device_plane: bool = False) -> WindowShare:
    return WindowShare(steps=10, step_s=0.01, input_share=value, device_plane=device_plane)


def with_gpu(recorded: Session) -> Session:
    samples = tuple(GpuSample(at=START + at, gpu=0, name="NVIDIA L4", gpu_percent=5) for at in range(1, 9))
    return replace(recorded, gpu_samples=samples)


def test_steps_in_a_window_are_not_among_the_steady_ones() -> None:
    times = steps_of(waited(0.5, window(4.6, 5.4)), share(0.5))
    assert (times.steps, times.warm_up_steps) == (700, 1)  # the 20 of the fifth second are neither
    assert near(times.step_s, 0.010)


def test_where_all_time_was_profiled_it_is_judged_all_the_same() -> None:
    assert steps_of(waited(0.5, window(0.0, 9.0)), share(0.5)).steps > 0


def test_two_methods_agree_and_both_figures_are_kept() -> None:
    times = steps_of(waited(0.71, window(4.6, 5.4)), share(0.73))
    assert (times.agree, times.methods) == (True, ("stamps", "window"))
    assert near(times.window_input_share, 0.73)
    assert near(times.shares.input, 0.71)
    assert times.confidence > 0.9
    assert "two methods agree" in times.basis


def test_the_call_of_a_scanned_step_is_no_wait_where_a_window_tells_it_apart() -> None:
    recorded = waited(0.5, window(4.6, 5.4), during=0.55)
    scan = replace(recorded, loops=tuple(replace(each, kind="scan", label="loop") for each in recorded.loops))
    times = steps_of(scan, share(0.5))  # stamps saw 55 % while the window saw 50 %: 5 % are calls
    assert near(times.shares.input, 0.45)
    assert times.agree is True
    assert near(steps_of(recorded, share(0.5)).shares.input, 0.5)


def test_methods_that_disagree_lower_the_confidence() -> None:
    times = steps_of(waited(0.71, window(4.6, 5.4), during=0.71), share(0.2))
    assert times.agree is False
    assert times.confidence <= 0.5
    assert "methods disagree" in times.basis


def test_a_pipeline_that_was_slower_in_the_window_is_no_disagreement() -> None:
    times = steps_of(waited(0.3, window(4.6, 5.4), during=0.6), share(0.62))
    assert (times.agree, times.agree_elsewhere) == (True, True)
    assert near(times.stamped_input_share, 0.6)
    assert times.basis.startswith("two methods agree on the profiled steps")
    assert (
        times.confidence < steps_of(waited(0.6, window(4.6, 5.4)), share(0.62)).confidence
    )  # 30 % is one method's word


@pytest.mark.parametrize("during", [None, 0.57])
@pytest.mark.parametrize("windows", [0.56, 0.71, 0.76, 0.9])
def test_the_report_calls_two_figures_agreement_only_where_they_are_near(windows: float, during: float | None) -> None:
    recorded = waited(0.76, window(4.6, 5.4), during=during)
    text = run_text.render(report_of_run(recorded, (), windows=[share(windows)]))
    said = re.search(r"(agree|disagree)(?: on the profiled\s+steps)? \((\d+)%, (\d+)%\)", text)
    assert said is not None
    assert (abs(int(said[2]) - int(said[3])) <= 10) == (said[1] == "agree")


def test_a_window_that_failed_says_why_there_is_one_method_only() -> None:
    refused = WindowRecord(process=PROCESS, window=1, status="refused", reason="the script profiles itself")
    why = steps_of(waited(0.3, refused)).window_input_share
    assert why == Missing("the script profiles itself")


def test_closed_counters_cost_confidence_and_are_said(tmp_path: Path) -> None:
    """A GPU at work, and a trace without a device plane: as where the driver keeps its counters from users."""
    writer = SessionWriter(tmp_path / "s")
    trace = plane("/host:CPU", (*STEPS, (FETCH, 0.0, 7.0), (FETCH, 10.0, 7.0), (FETCH, 20.0, 7.0), (FETCH, 30.0, 7.0)))
    writer.keep_trace(PROCESS, 1, trace)
    writer.close()
    recorded = with_gpu(waited(0.7, window(4.6, 5.4)))
    times = steps_of(recorded, *window_shares(tmp_path / "s", recorded))
    assert times.device_plane == "closed"
    assert times.confidence <= 0.6
    assert "upper bound" in times.basis
    opened = plane("/device:GPU:0", ((KERNEL, 8.0, 2.0),))
    seen_plane = window_share(trace + opened)
    assert seen_plane is not None
    assert steps_of(recorded, seen_plane).device_plane == "seen"


def test_a_trace_that_an_agent_left_is_taken_into_the_session(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "s")
    left = spool_folder(writer.path) / "7-1.2.xplane.pb"
    left.write_bytes(b"a trace")
    writer.tick()
    assert not left.exists()
    writer.close()
    assert read_trace(writer.path, "7-1", 2) == b"a trace"
    assert read_session(writer.path).windows == ()


def test_without_markers_a_step_lasts_from_fetch_to_fetch() -> None:
    found = seen(plane("/host:CPU", tuple((FETCH, 20.0 * at, 5.0) for at in range(5))))
    assert found.steps == 4
    assert near(found.step_s, 0.020)
    assert near(found.input_share, 0.25)


def test_too_few_fetches_are_no_window() -> None:
    assert window_share(plane("/host:CPU", tuple((FETCH, 20.0 * at, 5.0) for at in range(3)))) is None


def test_a_fetch_beside_the_executors_work_starves_nothing() -> None:
    """As with several steps an execution on a CPU: the next fetch is under way while the step computes."""
    events = [(FETCH, 20.0 * at, 15.0) for at in range(5)] + [(WORK, 20.0 * at, 10.0) for at in range(5)]
    assert near(seen(plane("/host:CPU", tuple(events))).input_share, 0.25)


def test_a_loop_over_a_dataset_inside_a_function_waits_for_the_input_of_its_scan() -> None:
    events = [(SCANNED, 20.0 * at, 19.0) for at in range(5)] + [
        (f"{SCANNED}::FlatMap", 20.0 * at, 5.0) for at in range(5)
    ]
    assert near(seen(plane("/host:CPU", tuple(events))).input_share, 0.25)


def test_steps_that_fetch_nothing_have_no_input_share() -> None:
    assert isinstance(seen(plane("/host:CPU", STEPS)).input_share, Missing)
