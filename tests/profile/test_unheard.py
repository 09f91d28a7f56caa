"""What C code writes to stderr while the profiler starts or stops arrives there, whatever becomes of the process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor.profile.last_words import last_words
from gpudoctor.profile.record import read_session
from tests.profile.launched import gpudoctor, surroundings

PYTHON = sys.executable
SCRIPT = str(Path(__file__).parent / "scripts" / "says_aside.py")
LINES = [f"line {each}" for each in range(3)]
LAST = "2025-03-01 10:00:00.000000: F external/xla/cupti_tracer.cc:9] Check failed: the last word"


def said(folder: Path, what: str, stderr: str = "pipe") -> tuple[int, list[str]]:
    command = gpudoctor("run", "-q", "--session", "s", "--", PYTHON, SCRIPT, what)
    with (folder / "log").open("wb") as log:
        place = subprocess.PIPE if stderr == "pipe" else log
        ran = subprocess.run(command, cwd=folder, env=surroundings(folder), stderr=place, check=False)
    text = ran.stderr if stderr == "pipe" else (folder / "log").read_bytes()
    return ran.returncode, text.decode().splitlines()


def test_others_lines_arrive_and_the_profilers_do_not(tmp_path: Path) -> None:
    assert said(tmp_path, "end") == (0, ["said before", "said between", *LINES, "said behind"])


@pytest.mark.parametrize("stderr", ["pipe", "file"])
def test_the_last_words_of_a_process_that_died_meanwhile_arrive(tmp_path: Path, stderr: str) -> None:
    assert said(tmp_path, "crash", stderr) == (134, ["said before", "said between", LAST])
    assert read_session(tmp_path / "s").exit_code == 134


def test_a_child_that_was_forked_meanwhile_writes_where_it_should(tmp_path: Path) -> None:
    assert said(tmp_path, "fork") == (0, ["said before", "said between", "said by the child", *LINES, "said behind"])


@pytest.mark.parametrize("pause_s", [0.5, 2.5])
def test_a_pipe_that_does_not_block_loses_no_line(tmp_path: Path, pause_s: float) -> None:
    """The reader of the pipe begins late: 200 kB do not fit into it."""
    spool = tmp_path / "spool"
    spool.mkdir()
    child = subprocess.Popen(
        [PYTHON, SCRIPT, "unread"],
        cwd=tmp_path,
        env={**surroundings(tmp_path), "GPUDOCTOR_SPOOL": str(spool)},
        stderr=subprocess.PIPE,
    )
    time.sleep(pause_s)
    told = child.communicate()[1]
    assert child.returncode == 0
    told += last_words(spool)  # what did not fit in time: the wrapper prints it
    lines = [each for each in told.decode().splitlines() if each.startswith("line ")]
    assert lines == [f"line {each}" for each in range(20_000)]
