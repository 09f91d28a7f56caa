"""`gpudoctor monitor --once` and pipes: one reading, no escape codes, nothing loaded that it does not need."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpudoctor.collect.isolate import SOURCE_DEADLINE_S
from gpudoctor.tui.options import Options
from gpudoctor.tui.start import start
from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, environment
from tests.slow_machines import in_time
from tests.system.command import Run, assert_clean, bare_environment, gpudoctor

HOT = Path(__file__).parents[2] / "fixtures/machines/h100-hardware-thermal-slowdown/snapshot.json"
HEAVY = ("textual", "rich", "tensorflow", "psutil", "importlib.metadata", "gpudoctor.diagnose", "gpudoctor_checks")


def _once(name: str, folder: Path, *arguments: str) -> Run:
    scenario = {**SCENARIOS, **FURTHER_SCENARIOS}[name]
    run = gpudoctor("monitor", *arguments, env=environment(scenario, folder))
    assert_clean(run)
    assert "\x1b" not in run.out
    return run


def test_text_shows_each_gpu_with_its_own_figures(tmp_path: Path) -> None:
    run = _once("base", tmp_path, "--once")
    assert run.code == 0
    assert "97%" in run.lines[2]
    assert "690/700W" in run.lines[2]
    assert "1200/1980" in run.lines[2]
    assert "x too hot: slowed by HW" in run.lines[2]
    assert "a kernel ran" in run.lines[1]


def test_off_a_terminal_the_dashboard_is_one_reading_and_a_note(tmp_path: Path) -> None:
    run = _once("base", tmp_path)
    assert "not a terminal" in run.err
    assert "690/700W" in run.out


def test_a_full_disk_is_no_fault_of_ours() -> None:
    for form in ("--once", "--json", "--csv"):
        with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123  # a device
            command = [sys.executable, "-m", "gpudoctor", "monitor", "--demo", form]
            ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert ended.returncode == 2
        assert "stdout: cannot be written (No space left on device)" in ended.stderr


def test_a_damaged_session_has_no_picture(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.session"
    damaged.write_bytes(b"SQLite format 3\0" + b"x" * 900)
    words = ["monitor", "--session", str(damaged), "--screenshot", str(tmp_path / "p.svg")]
    ended = subprocess.run([sys.executable, "-m", "gpudoctor", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    assert ended.returncode == 2
    assert "damaged.session" in ended.stderr
    assert not (tmp_path / "p.svg").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--snapshot", "nowhere.json"), "nowhere.json: cannot be read (No such file or directory)"),
        (("--snapshot", "list.json"), "list.json: not a snapshot"),
        (("--snapshot", "-"), "--snapshot -: the dashboard takes keys from the terminal"),
        (("--demo",), "p.png: a picture is an SVG, not .png; give --screenshot p.svg"),
    ],
)
def test_what_cannot_be_shown_or_drawn_is_told_and_no_picture_made(
    words: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    picture = "p.png" if "--demo" in words else "p.svg"
    run = gpudoctor("monitor", *words, "--screenshot", picture, env=bare_environment(tmp_path))
    assert (run.code, run.out) == (2, "")
    assert says in run.err
    assert not (tmp_path / picture).exists()


def test_a_bundle_is_shown_like_the_snapshot_in_it(tmp_path: Path) -> None:
    env = bare_environment(tmp_path)
    assert gpudoctor("bundle", "--snapshot", HOT, "-o", "b.tgz", "--yes", env=env).code == 0
    run = gpudoctor("monitor", "--snapshot", "b.tgz", "--screenshot", "p.svg", env=env)
    assert run.code == 0
    assert "GD801" in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_json_has_units_in_its_names_and_reasons_for_what_is_missing(tmp_path: Path) -> None:
    run = _once("utilization_not_supported", tmp_path, "--json")
    document = run.document
    assert document["schema_version"] == 1
    assert document["gpus"][0]["temperature_c"] == 91
    assert document["missing"]["gpus[0].utilization.gpu_percent"] == "not_supported"


def test_json_names_nobody_unless_asked(tmp_path: Path) -> None:
    assert "GPU-0000" not in _once("base", tmp_path / "a", "--json").out
    assert "GPU-0000" in _once("base", tmp_path / "b", "--json", "--include-identifiers").out


def test_csv_has_a_line_for_each_gpu(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(_once("healthy_8", tmp_path, "--csv").out)))
    assert [row["gpu"] for row in rows] == [str(index) for index in range(8)]
    assert rows[3]["kernel_percent"] == "85"
    assert rows[3]["temperature_c"] == "45"


def test_csv_without_a_gpu_is_its_heading_and_says_on_stderr_why(tmp_path: Path) -> None:
    run = _once("no_nvml", tmp_path, "--once", "--csv")
    assert run.code == 0
    assert [line.split(",")[:3] for line in run.lines] == [["time", "gpu", "status"]]
    assert run.err == "gpudoctor: no GPU to list (NVML: library not found)\n"


def test_a_hung_driver_costs_its_deadline(tmp_path: Path) -> None:
    run = _once("hang", tmp_path, "--json")
    assert in_time(run.duration_s, 2.0, after_s=SOURCE_DEADLINE_S)
    assert run.document["nvml"]["status"] == "timeout"


def test_without_a_driver_it_says_so_and_exits_0(tmp_path: Path) -> None:
    run = _once("no_nvml", tmp_path, "--once")
    assert run.code == 0
    assert "library not found" in run.out


def test_it_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    code = (
        "import sys; from gpudoctor.cli.main import main; main(['monitor', '--once']); "
        f"sys.stderr.write(','.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    env = environment(FURTHER_SCENARIOS["healthy"], tmp_path)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_with_stderr_in_a_file_nothing_is_drawn_into_it(tmp_path: Path) -> None:
    env = {**environment(FURTHER_SCENARIOS["healthy"], tmp_path), "TERM": "xterm-256color"}
    master, slave = pty.openpty()
    with (tmp_path / "stderr").open("wb") as file:
        command = [sys.executable, "-m", "gpudoctor", "monitor"]
        code = subprocess.run(
            command, env=env, stdin=slave, stdout=slave, stderr=file, check=False, timeout=60
        ).returncode
    os.close(slave)
    os.close(master)
    assert code == 0
    assert b"\x1b" not in (tmp_path / "stderr").read_bytes()


def test_options_that_exclude_each_other_are_usage_errors(tmp_path: Path) -> None:
    wrong: tuple[tuple[str, ...], ...] = (
        ("--json", "--csv"),
        ("--demo", "--snapshot", "x"),
        ("--demo", "--", "python", "train.py"),
        ("--once", "--session", "x"),
        ("--snapshot", "x"),
        ("--interval", "0.1"),
    )
    for place, words in enumerate(wrong):
        run = gpudoctor("monitor", *words, env=environment(FURTHER_SCENARIOS["healthy"], tmp_path / str(place)))
        assert run.code == 2, words
        if "--json" in words:
            assert json.loads(run.out)["summary"]["status"] == "unknown"


def test_the_demo_off_a_terminal_is_a_reading_of_the_demo_and_says_so(tmp_path: Path) -> None:
    run = gpudoctor("monitor", "--demo", env=environment(FURTHER_SCENARIOS["healthy"], tmp_path))
    assert run.code == 0
    assert "too hot: slowed by HW" in run.out
    assert "invented machine" in run.err


def _on_terminal(env: dict[str, str]) -> tuple[int, int]:
    """Start the bare command on a terminal; return its pid and the other end, once the dashboard is seen."""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "gpudoctor"], env)  # noqa: S606  # ours
    seen = b""
    while b"a kernel ran" not in seen:
        seen += os.read(master, 65536)
    return pid, master


def _rest(master: int) -> bytes:
    """Return what comes until the terminal is left."""
    seen = b""
    try:
        while data := os.read(master, 65536):
            seen += data
    except OSError:
        pass
    return seen


def test_the_bare_command_on_a_terminal_opens_the_dashboard_and_q_ends_it(tmp_path: Path) -> None:
    pid, master = _on_terminal({**environment(FURTHER_SCENARIOS["healthy"], tmp_path), "TERM": "xterm-256color"})
    os.write(master, b"q")
    _rest(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_screen_that_fell_over_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fallen:
        return_code, runs = 1, SimpleNamespace(started=None)

        def __init__(self, *_: object) -> None:
            pass

        def run(self) -> None:
            pass

    monkeypatch.setattr("gpudoctor.tui.app.MonitorApp", Fallen)
    assert start(Options(demo=True), None) == 70


def test_a_terminal_is_given_back_when_the_dashboard_is_ended_by_a_signal(tmp_path: Path) -> None:
    pid, master = _on_terminal({**environment(FURTHER_SCENARIOS["healthy"], tmp_path), "TERM": "xterm-256color"})
    time.sleep(0.5)
    os.kill(pid, signal.SIGTERM)
    end = _rest(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 143
    assert b"\x1b[?1049l" in end
    assert b"\x1b[?25h" in end


def test_a_terminal_that_can_move_no_cursor_gets_one_reading(tmp_path: Path) -> None:
    pid, master = _on_terminal({**environment(FURTHER_SCENARIOS["healthy"], tmp_path), "TERM": "dumb"})
    assert b"\x1b[?1049h" not in _rest(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
