"""A fault of ours ends the recording, never the command: its output arrives, and its exit code stands."""

from __future__ import annotations

import os
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from gpudoctor.model.session import Session
from gpudoctor.profile.record import read_session
from tests.profile.launched import gpudoctor, script, surroundings
from tests.profile.test_terminal import ASKS, Screen

PYTHON = sys.executable
SCRIPT = str(Path(__file__).parent / "scripts" / "our_fault.py")
# Longer than a second: what fails does so while the command runs.
LINES = "import sys, time\nfor each in range(9): sys.stderr.write(f'line {each}\\n'); time.sleep(0.14)\nsys.exit(3)\n"
PRINTED = "".join(f"line {each}\n" for each in range(9)).encode()


def faulty(folder: Path, what: str, text: str = LINES) -> list[str]:
    return [PYTHON, SCRIPT, what, "s", PYTHON, script(folder, text)]


def told(session: Session, kind: str) -> list[str]:
    return [each.text for each in session.events if each.kind == kind]


def test_a_reader_that_fails_leaves_a_pipe_and_the_exit_code_alone(tmp_path: Path) -> None:
    ran = subprocess.run(
        faulty(tmp_path, "reader"), cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (3, PRINTED)
    (words,) = told(read_session(tmp_path / "s"), "reader_fault")
    assert "RecursionError: a text of" in words


def test_a_reader_that_fails_leaves_a_file_and_the_exit_code_alone(tmp_path: Path) -> None:
    command = faulty(tmp_path, "reader", LINES.replace("0.14", "0.3"))
    with (tmp_path / "log").open("wb") as log:
        ran = subprocess.run(command, cwd=tmp_path, env=surroundings(tmp_path), stderr=log, check=False)
    assert (ran.returncode, (tmp_path / "log").read_bytes()) == (3, PRINTED)
    session = read_session(tmp_path / "s")
    assert len(told(session, "reader_fault")) == 1
    assert (session.outcome, session.exit_code) == ("ended", 3)
    assert len(session.host_samples) >= 2  # the rest of the recording went on


def test_a_reader_that_fails_leaves_a_terminal_and_the_exit_code_alone(tmp_path: Path) -> None:
    screen = Screen(tmp_path, *faulty(tmp_path, "reader"))
    assert screen.end() == 3
    assert screen.seen == PRINTED.replace(b"\n", b"\r\n")
    screen.close()
    assert len(told(read_session(tmp_path / "s"), "reader_fault")) == 1


def test_without_a_thread_a_terminal_passes_everything_both_ways_and_it_is_said(tmp_path: Path) -> None:
    name = script(tmp_path, ASKS)
    screen = Screen(tmp_path, PYTHON, SCRIPT, "thread", "s", PYTHON, name)
    screen.until(b"name?")
    screen.type(b"Ada\r")
    assert screen.end() == 0
    assert b"hello Ada\r\n\x1b[31mred\x1b[0m\ttab\r50%\r100%\r\n" in screen.seen
    assert b"no thread could be had for the terminal (can't start new thread (terminal))" in screen.seen
    assert termios.tcgetattr(screen.slave) == screen.before
    screen.close()
    session = read_session(tmp_path / "s")
    assert (session.outcome, session.exit_code) == ("ended", 0)


def test_without_a_thread_keys_that_are_signals_reach_the_command_and_it_ends_in_time(tmp_path: Path) -> None:
    text = "import time\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    screen = Screen(tmp_path, PYTHON, SCRIPT, "thread", "s", PYTHON, script(tmp_path, text))
    screen.until(b"ready")
    screen.type(b"\x03")
    assert screen.end() == 0
    assert b"interrupted" in screen.seen
    screen.close()


@pytest.mark.parametrize("what", ["writer", "report", "fork"])
@pytest.mark.parametrize("stderr", ["pipe", "file"])
def test_whatever_of_ours_fails_the_command_ends_as_it_does_alone(tmp_path: Path, what: str, stderr: str) -> None:
    with (tmp_path / "log").open("wb") as log:
        ran = subprocess.run(
            faulty(tmp_path, what),
            cwd=tmp_path,
            env=surroundings(tmp_path),
            stderr=subprocess.PIPE if stderr == "pipe" else log,
            check=False,
        )
    text = ran.stderr if stderr == "pipe" else (tmp_path / "log").read_bytes()
    assert (ran.returncode, text[: len(PRINTED)]) == (3, PRINTED)
    assert b"Traceback" not in text
    assert (b"is incomplete" in text) == (what == "writer")


def test_without_a_process_for_the_sampler_the_rest_is_recorded(tmp_path: Path) -> None:
    subprocess.run(faulty(tmp_path, "fork"), cwd=tmp_path, env=surroundings(tmp_path), check=False)
    session = read_session(tmp_path / "s")
    assert (session.outcome, session.exit_code) == ("ended", 3)
    assert told(session, "nvml_status") == [
        "not sampled: no process could be started (Resource temporarily unavailable)"
    ]
    assert session.host_samples


def test_a_row_that_no_session_can_hold_costs_the_row(tmp_path: Path) -> None:
    text = """
import os, pathlib, sys
spool = pathlib.Path("s.live")
(spool / "7-1.0.jsonl").write_text('["events", {"at": %d, "kind": "x"}]\\n["events", {"at": 1.0, "kind": "y"}]\\n' % 2**70)
sys.exit(3)
"""
    command = gpudoctor("run", "--session", "s", "--", PYTHON, script(tmp_path, text))
    ran = subprocess.run(command, cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, check=False)
    assert ran.returncode == 3
    assert [each.kind for each in read_session(tmp_path / "s").events if each.process == "7-1"] == ["y"]


def test_where_no_session_can_be_written_the_command_runs_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("not a folder", encoding="utf-8")
    command = gpudoctor("run", "--", PYTHON, script(tmp_path, LINES))
    ran = subprocess.run(command, cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, check=False)
    assert ran.returncode == 3
    assert ran.stderr.endswith(PRINTED)
    assert b"; your command runs without a recording\n" in ran.stderr
    assert b"Traceback" not in ran.stderr


def test_a_file_of_the_users_that_cannot_be_written_is_told_before_anything_starts(tmp_path: Path) -> None:
    place = os.path.join("no", "such", "folder", "s")  # noqa: PTH118  # words of a command line
    command = gpudoctor("run", "--session", place, "--", PYTHON, script(tmp_path, LINES))
    ran = subprocess.run(command, cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, check=False)
    assert ran.returncode == 2
    assert b"line 0" not in ran.stderr
    assert b"name another file with --session" in ran.stderr
