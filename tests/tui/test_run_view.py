"""The run view from data alone: any size, every figure under its own label, findings that do not flap, time lines, replays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpudoctor.model.finding import Finding, Fix, Gain, Grade, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Coverage, Report, Status, Summary
from gpudoctor.model.run import Breakdown, GpuOverTime, MachineOverTime, StepTimes
from gpudoctor.model.session import GpuSample
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.profile.steps import Stretch
from gpudoctor.tui.moment import as_of, ended
from gpudoctor.tui.output_tail import OutputTail
from gpudoctor.tui.run_news import Column, Recorded
from gpudoctor.tui.session_source import recording_of
from gpudoctor.tui.steady_findings import GONE_READS, HELD_READS, SteadyFindings
from gpudoctor.tui.time_line import time_line
from gpudoctor.tui.views import step_plot
from gpudoctor.tui.views.lines import refilled, text_of, width_of
from gpudoctor.tui.views.run import plot_columns, run_frame, shared_out
from gpudoctor.tui.watch import Watch
from tests.profile.timelines import recorded
from tests.tui.stage import invented_report, invented_run_report, reading, run_news

SIZES = [(80, 24), (81, 25), (100, 30), (117, 34), (118, 34), (132, 36), (200, 50), (300, 80), (40, 12), (20, 6)]


def watching(width: int = 200, **changes: object) -> Watch:
    """Return the state with news of the invented run."""
    watch = Watch()
    watch.take(reading())
    watch.run.news = run_news(columns=plot_columns(width), **changes)
    return watch


def shown(watch: Watch, width: int = 200, height: int = 50) -> list[str]:
    """Return the frame as text."""
    return [text_of(line) for line in run_frame(watch, width, height)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize("started", [True, False])
def test_a_frame_fills_the_screen_and_never_more(size: tuple[int, int], *, filled: bool, started: bool) -> None:
    width, height = size
    watch = watching(width) if filled else Watch()
    if started:
        watch.run.started, watch.run.output = ("python", "train.py"), ("Epoch 1/9", "x" * 999)
    lines = run_frame(watch, width, height)
    assert len(lines) == height
    assert max(map(width_of, lines)) <= width


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
def test_what_holds_the_run_is_seen_on_every_usual_screen(size: tuple[int, int]) -> None:
    text = "\n".join(shown(watching(size[0]), *size))
    for words in (
        "HIGHLY INPUT-BOUND",
        "71% of a step",
        "GD991",
        "BOTTLENECK",
        "train.py:41",
        "2.10-3.10x",
        "43.9 steps/s",
        "input",
    ):
        assert words in text, words


def test_each_figure_stands_under_its_own_label() -> None:
    lines = shown(watching())
    text = "\n".join(lines)
    for words in (
        "train.py  running 4:12  epoch 4  3,412 steps", "TF 2.20.1  Keras 3.11.5  session 1a2b3c4d", "confidence 0.95",
        "43.9 steps/s", "22.8 ms a step", "3% input", "GPU 0 29% at work", "26.5 J/step", "2.7 of 16 cores", "3% retracing",
        "a batch takes 59.7 ms, prefetch: user",
    ):  # fmt: skip
        assert words in text, words
    row = next(line for line in lines if "map" in line and "BOTTLENECK" in line)
    assert (
        row.index("map x3 augment() in Python")
        < row.index("train.py:41")
        < row.index("57.2 ms")
        < row.index("BOTTLENECK")
    )
    hot = next(line for line in lines if "np.pad" in line and "61%" in line)
    assert hot.index("61%") < hot.index("input numpy") < hot.index("train.py:23") < hot.index("image = np.pad")
    gpu = next(line for line in lines if "GPU:0" in line)
    assert gpu.index("38 GiB") < gpu.index("steady") < gpu.index("peak 61 GiB")
    host = next(line for line in lines if line.lstrip().startswith("host  "))
    assert "+402.3 KiB/step" in host
    legend = next(line for line in lines if "██ input" in line)
    assert [legend.index(words) for words in ("input 3%", "host 9%", "device 82%", "other 6%")] == sorted(
        legend.index(words) for words in ("input 3%", "host 9%", "device 82%", "other 6%")
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"outcome": "ended", "exit_code": 0}, "ended after 4:12, exit 0"),
        ({"outcome": "ended", "exit_code": 137}, "x train.py  ended after 4:12, exit 137"),
        ({"outcome": "cut_short"}, "recording cut short after 4:12"),
        ({"steps": None, "unknown": {"steps": "no training step was seen"}}, "no training step yet"),
    ],
)
def test_how_it_goes_is_said_with_a_sign(changes: dict[str, object], words: str) -> None:
    assert words in "\n".join(shown(watching(report=invented_run_report(**changes))))


def test_a_gpu_keeps_its_own_figures_and_the_rest_is_counted() -> None:
    gpus = tuple(GpuOverTime(index=at, busy_share=0.97 - at / 10, joules_per_step=39.9 - at) for at in range(8))
    watch = watching(report=invented_run_report(machine=MachineOverTime(gpus=gpus, cores=16)))
    for width in range(60, 200):
        line = shown(watch, width, 30)[3]
        assert "38.9 J/step" not in line or "GPU 1 87% at work 38.9 J/step" in line
        assert "39.9 J/step" not in line or "GPU 0 97% at work 39.9 J/step" in line
        assert "GPU 0" not in line or "+7 GPUs" in line or "+6 GPUs" in line
    assert "GPU 0 97% at work 39.9 J/step  +7 GPUs" in shown(watch, 100, 30)[3]


def test_a_gpu_that_the_run_does_not_hold_has_no_figures() -> None:
    gpus = tuple(GpuOverTime(index=at, busy_share=0.5, joules_per_step=9.0, own_processes=at) for at in range(2))
    line = shown(watching(report=invented_run_report(machine=MachineOverTime(gpus=gpus))))[3]
    assert "GPU 1 50% at work 9 J/step" in line
    assert "GPU 0" not in line


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 34), (132, 36)])
@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_the_best_fix_is_never_dropped(size: tuple[int, int], count: int) -> None:
    judged = invented_run_report()
    watch = watching(size[0], report=replace(judged, findings=(judged.findings * 5)[:count]))
    watch.run.started, watch.run.output = ("python", "train.py"), ("Epoch 1/9",)
    text = "\n".join(shown(watch, *size))
    assert " FIX  1 augment() in TF ops :41" in text
    watch.run.row = count - 1
    assert any(line.lstrip(" │").startswith(">") or "> " in line for line in shown(watch, *size))


def test_the_pace_of_a_run_that_ended_is_its_last() -> None:
    assert "now " in shown(watching())[3]
    assert "last  43.9 steps/s" in shown(watching(report=invented_run_report(outcome="ended", exit_code=0)))[3]


def test_a_run_that_shows_nothing_says_nothing_of_the_machine() -> None:
    empty = replace(invented_run_report(steps=None), findings=(), fixes=())
    watch = watching(report=empty)
    assert watch.why is None
    watch.report = invented_report()
    assert watch.why is watch.report


def test_a_command_that_begins_is_not_judged() -> None:
    started = "starting: TensorFlow not imported yet (0:03)"
    line = shown(watching(report=invented_run_report(steps=None, limits=(started,))))[2]
    assert f"[?] {started}" in line


def test_a_crash_is_said_with_the_line_that_names_it() -> None:
    watch = watching(report=invented_run_report(outcome="ended", exit_code=1))
    assert "[x] CRASHED exit 1" in shown(watch)[2]
    watch.run.output = (
        "Traceback (most recent call last):",
        '  File "x.py", line 1',
        "EOFError: EOF when reading a line",
        "",
    )
    assert (
        "CRASHED exit 1  EOFError: EOF when reading a line (a run that the dashboard starts has no" in shown(watch)[2]
    )
    watch.run.output = ("tensorflow.errors.InternalError: boom [bold]", "done")
    assert "CRASHED exit 1  tensorflow.errors.InternalError: boom [bold]" in shown(watch)[2]


def test_a_silent_recorder_is_said() -> None:
    assert "silent for 12 s" in "\n".join(shown(watching(silent_s=12.0)))


def test_unknown_shares_are_not_drawn_as_zero() -> None:
    steps = StepTimes(label="fit", shares=Breakdown(input=Missing("fetches run beside compute")), input_class="unknown")
    text = "\n".join(shown(watching(report=invented_run_report(steps=steps))))
    assert "[?] INPUT UNKNOWN  fetches run beside compute" in text


def test_of_steps_that_fetch_nothing_the_users_own_python_is_told() -> None:
    shares = Breakdown(input=Missing("made in Python"), host=0.6, compute=0.4)
    steps = StepTimes(label="loop", kind="function", shares=shares, input_class="unknown")
    text = "\n".join(shown(watching(report=invented_run_report(steps=steps))))
    assert "[x] HOST-BOUND  60% of a step is your own Python" in text


def test_steps_that_python_holds_are_told_as_such() -> None:
    shares = Breakdown(input=0.02, host=0.6, tracing=0.0, compute=0.38)
    steps = StepTimes(label="fit", shares=shares, input_class="not", device_plane="no device")
    text = "\n".join(shown(watching(report=invented_run_report(steps=steps))))
    assert "[x] HOST-BOUND  60% of a step is Python, 2% waits for data" in text


def test_the_columns_of_the_plot_keep_the_order_and_the_sum_of_their_parts() -> None:
    column = Column(steps_per_s=10.0, input=0.05, device=0.03, host=0.01, other=0.01)
    rows = [text_of(line)[-1] for line in step_plot.plot_lines([column], 20, 10)]
    assert "".join(reversed(rows)) == "█████▒▓▓▓░"


@pytest.mark.parametrize(
    ("most", "top"), [(0.0806, 0.1), (0.021, 0.03), (3.4e-4, 4e-4), (1.0, 1.0), (12.0, 15.0), (0.0, 0.1)]
)
def test_the_scale_ends_on_a_round_value_above_the_longest_step(most: float, top: float) -> None:
    assert step_plot.scale_top(most) == pytest.approx(top)


def test_lines_are_shared_out_leasts_first_and_nothing_is_lost() -> None:
    assert shared_out([(3, 5), (6, 60), (3, 4)], 12) == [3, 6, 3]
    assert shared_out([(3, 5), (6, 60), (3, 4)], 8) == [4, 0, 4]
    assert sum(shared_out([(3, 5), (6, 60), (3, 4)], 40)) == 40


def test_the_time_line_shares_steps_out_by_time_and_leaves_holes() -> None:
    stretches = [
        Stretch(start=100.0, end=102.0, steps=20, wait_s=1.0),
        Stretch(start=104.0, end=105.0, steps=5, wait_s=0.0),
    ]
    told = time_line(stretches, [], Breakdown(host=0.1), until_s=105.9, span_s=6, count=6)
    assert [None if each is None else round(each.steps_per_s, 3) for each in told] == [
        10.0,
        10.0,
        None,
        None,
        5.0,
        None,
    ]
    first = told[0]
    assert first is not None
    assert (first.input, first.host, first.device) == pytest.approx((0.05, 0.01, 0.0))
    assert first.step_s == pytest.approx(0.1)


def test_a_wait_beside_device_work_starves_nothing() -> None:
    gpus = [GpuSample(at=100.0 + at, gpu=0, gpu_percent=80, own_processes=1) for at in range(10)]
    told = time_line(
        [Stretch(start=100.0, end=110.0, steps=100, wait_s=9.0)], gpus, None, until_s=109.5, span_s=10, count=1
    )
    column = told[0]
    assert column is not None
    assert (column.input, column.device) == pytest.approx((0.02, 0.08))


def a_report(*codes: str) -> Report:
    """Return a report with these findings and a fix for each."""
    findings = tuple(
        Finding(code=each, summary=each, severity=Severity.WARNING, confidence=0.5, basis="x") for each in codes
    )
    fixes = tuple(
        Fix(id=each, title=each, action="manual", text=each, gain=Gain(grade=Grade.UNPROVEN), addresses=(each,))
        for each in codes
    )
    summary = Summary(status=Status.WARNING, headline="", counts={}, coverage=Coverage(ran=1, total=1))
    return Report(summary=summary, snapshot=Snapshot(), findings=findings, fixes=fixes)


def codes(report: Report) -> tuple[list[str], list[str]]:
    """Return the codes of findings and the names of fixes."""
    return [each.code for each in report.findings], [each.id for each in report.fixes]


def test_a_finding_is_shown_when_it_held_and_goes_when_it_was_away() -> None:
    steady = SteadyFindings()
    for _ in range(HELD_READS - 1):
        assert codes(steady.take(a_report("A"))) == ([], [])
    assert codes(steady.take(a_report("A"))) == (["A"], ["A"])
    for _ in range(GONE_READS - 1):
        assert codes(steady.take(a_report())) == (["A"], ["A"])
    assert codes(steady.take(a_report())) == ([], [])


def test_a_finding_that_flickers_neither_comes_nor_goes() -> None:
    steady = SteadyFindings()
    for _ in range(20):
        assert codes(steady.take(a_report("B"))) == ([], [])
        assert codes(steady.take(a_report())) == ([], [])
    for _ in range(HELD_READS):
        steady.take(a_report("B"))
    for _ in range(20):
        assert codes(steady.take(a_report())) == (["B"], ["B"])
        assert codes(steady.take(a_report("B"))) == (["B"], ["B"])


def test_the_order_of_the_report_stays_and_a_jump_shows_at_once() -> None:
    steady = SteadyFindings()
    for _ in range(HELD_READS):
        steady.take(a_report("A", "B"))
    assert codes(steady.take(a_report("B", "A")))[0] == ["B", "A"]
    steady.forget()
    assert codes(steady.take(a_report("C"))) == (["C"], ["C"])


def test_a_session_as_of_a_moment_holds_nothing_of_later() -> None:
    session = recorded("numpy-function")
    middle = session.started_at + (ended(session) - session.started_at) * 0.8
    cut = as_of(session, middle)
    assert cut.outcome == "running"
    assert isinstance(cut.exit_code, Missing)
    assert 0 < len(cut.steps) < len(session.steps)
    assert max(each.at for each in cut.steps) <= middle
    assert all(isinstance(each.ended_at, Missing) or each.ended_at <= middle for each in cut.phases)
    assert as_of(session, ended(session)) is session


def test_a_finished_run_is_played_for_the_machine_view_and_stays_at_its_end() -> None:
    gpus = tuple(GpuSample(at=1000.0 + at, gpu=0, gpu_percent=at, power_w=300.0 + at) for at in range(61))
    recording = recording_of(Recorded(begun_s=1000.0, length_s=60.0, nvml_status="ok", gpus=gpus))
    assert recording.length_s == 60.0
    assert recording.seek(30)[-1].gpus[0].utilization.gpu_percent == 30
    assert recording.words == "SESSION 0:30/1:00 x1"
    for _ in range(100):
        recording.step(1.0)
    assert recording.place_s == 60.0
    assert recording_of(Recorded(begun_s=0.0, length_s=7200.0)).speed == 60.0


def test_the_machine_view_says_the_graver_of_what_scan_and_run_found() -> None:
    watch = watching()
    assert watch.judged is watch.why is watch.run.report
    watch.report = invented_report()
    assert watch.judged is watch.report
    assert watch.why is watch.run.report  # both have an error; the surer one says why
    watch.run.news = run_news(report=replace(invented_run_report(), findings=()))
    assert watch.why is watch.report


def test_output_is_what_a_terminal_would_show(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tail = OutputTail(log)
    assert not tail.read()
    log.write_bytes(b"Epoch 1/2\r\n\x1b[1m1/9\x1b[0m loss 3\r\x1b[1m9/9\x1b[0m loss 1")
    assert tail.read()
    assert tail.lines == ["Epoch 1/2", "9/9 loss 1"]
    with log.open("ab") as stream:
        stream.write(b"\x08\x082\xc3")
        stream.flush()
        tail.read()
        stream.write(b"\xa4\x1b[3")
        stream.flush()
        tail.read()
        stream.write(b"1m!\r\n")
    tail.read()
    assert tail.lines == ["Epoch 1/2", "9/9 loss2ä!"]


def test_a_flood_is_cut_and_its_end_is_seen(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("line\n" * 1_000_000 + "the end\n", encoding="utf-8")
    tail = OutputTail(log)
    tail.read()
    assert tail.lines[-1] == "the end"
    assert len(tail.lines) <= 2000


def test_pages_are_filled_to_the_width_and_lists_keep_their_lines() -> None:
    page = "GD1: a title.\n\nWhat it does\n    One sentence that was broken\n    where the source needed it.\n\n    - a point\n    - another\n        code = 1"
    assert refilled(page, 70) == [
        "GD1: a title.", "", "What it does", "    One sentence that was broken where the source needed it.", "",
        "    - a point", "    - another", "        code = 1",
    ]  # fmt: skip
    assert all(len(line) <= 30 for line in refilled(page, 30))
