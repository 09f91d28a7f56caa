"""What the command prints is read for messages beside its way, and arrives as it would without us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.session import ProcessRecord, Session
from gpudoctor.model.told import MessageRecord
from gpudoctor.profile.outcome import remarks
from gpudoctor.profile.record import SessionWriter, read_session
from gpudoctor.profile.text_tap import BACKLOG_BYTES, TextTap
from tests.profile.launched import gpudoctor, plain, run, script, surroundings
from tests.profile.timelines import recorded
from tests.slow_machines import at_most

PYTHON = sys.executable
NO_DRIVER = (
    "2025-03-01 10:00:00.000000: E external/local_xla/xla/stream_executor/cuda/cuda_platform.cc:51] failed call to "
    "cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)"
)
TURNS = """
import os
for number in range(3000):
    os.write(1 + number % 2, b"%d.\\n" % number)
"""
KIND = "cuinit_failed"


def kinds(session: Session) -> list[str]:
    return [each.kind for each in session.messages if each.number]


def redirected(folder: Path, command: list[str], where: str) -> bytes:
    """Run with stdout and stderr in one place, and return what arrived there."""
    environ = surroundings(folder)
    if where == "pipe":
        return subprocess.run(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
        ).stdout
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if where == "appended" else os.O_TRUNC)
    log = folder / "log"
    log.write_bytes(b"before\n" if where == "appended" else b"")
    file = os.open(log, flags)
    subprocess.run(command, cwd=folder, env=environ, stdout=file, stderr=file, check=True)
    os.close(file)
    return log.read_bytes()


@pytest.mark.parametrize("where", ["pipe", "file", "appended"])
def test_the_order_of_stdout_and_stderr_in_one_place_stays(tmp_path: Path, where: str) -> None:
    name = script(tmp_path, TURNS)
    alone = redirected(tmp_path, [PYTHON, name], where)
    watched = redirected(tmp_path, gpudoctor("run", "-q", "--session", "s", "--", PYTHON, name), where)
    assert watched == alone


@pytest.mark.parametrize("where", ["pipe", "file", "appended"])
def test_a_message_is_read_wherever_stderr_goes(tmp_path: Path, where: str) -> None:
    name = script(tmp_path, f"import sys\nfor _ in range(3): print({NO_DRIVER!r}, file=sys.stderr)\n")
    redirected(tmp_path, gpudoctor("run", "-q", "--session", "s", "--", PYTHON, name), where)
    session = read_session(tmp_path / "s")
    assert kinds(session) == [KIND]
    assert [(each.count, each.line) for each in session.messages if each.number] == [(3, 1)]


def test_a_message_without_a_line_end_is_read(tmp_path: Path) -> None:
    ran = run(tmp_path, PYTHON, "-c", f"import sys; sys.stderr.write({NO_DRIVER!r})")
    assert ran.err == NO_DRIVER.encode()
    assert kinds(ran.session) == [KIND]


def test_the_report_says_what_the_command_printed(tmp_path: Path) -> None:
    name = script(tmp_path, f"import sys\nprint({NO_DRIVER!r}, file=sys.stderr)\n")
    ran = run(tmp_path, PYTHON, name, options=())
    told = ran.err.decode()
    assert told.index(NO_DRIVER) < told.index("gpudoctor report")
    assert "PRIMARY  GD" in told


def test_what_is_no_trouble_in_the_text_is_not_told() -> None:
    noise = MessageRecord(process="stderr", number=1, kind="noise", text="Unable to register cuDNN factory", line=1)
    session = Session(schema_version=1, session="x", command=("python",), messages=(noise,))
    assert report_of_run(session, registry.load().checks).findings == ()


@pytest.mark.parametrize(("code", "causes"), [(0, []), (1, ["data-ended"])])
def test_data_that_ran_out_are_a_trouble_only_where_the_command_failed(code: int, causes: list[str]) -> None:
    said = MessageRecord(process="stderr", number=1, kind="data_ended", text="Your input ran out of data", line=1)
    session = Session(schema_version=1, session="x", command=("python",), messages=(said,), exit_code=code)
    assert [each.cause for each in report_of_run(session, registry.load().checks).findings] == causes


def test_data_that_end_where_fit_was_to_run_until_they_do_are_none() -> None:
    said = MessageRecord(process="stderr", number=1, kind="data_ended", text="Your input ran out of data", line=1)
    (row, *_) = recorded("numpy-function").settings
    steps = replace(row, subject="process", name="fit_steps", value="until the data end")
    whole = replace(recorded("numpy-function"), messages=(said,), exit_code=1)
    causes = [
        [
            each.cause
            for each in report_of_run(replace(whole, settings=(*whole.settings, each)), registry.load().checks).findings
        ]
        for each in (steps, replace(steps, value=100))
    ]
    assert ["data-ended" in each for each in causes] == [False, True]


def test_output_in_a_gigabytes_pace_is_passed_on_whole(tmp_path: Path) -> None:
    name = script(tmp_path, "import os\nfor _ in range(800): os.write(2, b'x' * 99_999 + b'\\n')\n")
    with at_most(60):
        ran = run(tmp_path, PYTHON, name)
    assert len(ran.err) == 80_000_000


def test_a_reader_that_goes_away_ends_the_command_as_it_does_alone(tmp_path: Path) -> None:
    name = script(tmp_path, "import os\nwhile True: os.write(2, b'x' * 1000)\n")
    codes: list[int] = []
    for command in ([PYTHON, name], gpudoctor("run", "-q", "--session", "s", "--", PYTHON, name)):
        child = subprocess.Popen(command, cwd=tmp_path, env=surroundings(tmp_path), stderr=subprocess.PIPE)
        assert child.stderr is not None
        child.stderr.read(5000)
        child.stderr.close()
        codes.append(child.wait(60))
    assert codes[0] == codes[1] != 0


def test_the_command_prints_on_when_the_wrapper_is_killed(tmp_path: Path) -> None:
    text = "import sys, time\nprint('ready', flush=True)\ntime.sleep(1.5)\nprint('still there', file=sys.stderr)\n"
    child = subprocess.Popen(
        gpudoctor("run", "-q", "--session", "s", "--", PYTHON, script(tmp_path, text)),
        cwd=tmp_path,
        env=surroundings(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert child.stderr.read() == b"still there\n"
    child.stdout.close()
    child.stderr.close()


def test_one_who_stays_behind_with_stderr_open_does_not_hold_the_wrapper(tmp_path: Path) -> None:
    stays = "print(subprocess.Popen(['sleep', '600'], stdin=-3, stdout=-3).pid)\n"
    name = script(tmp_path, "import subprocess, sys\nprint('done', file=sys.stderr)\n" + stays)
    with (tmp_path / "out").open("wb") as out:
        child = subprocess.Popen(
            gpudoctor("run", "-q", "--session", "s", "--", PYTHON, name),
            cwd=tmp_path,
            env=surroundings(tmp_path),
            stdout=out,
            stderr=subprocess.PIPE,
        )
        assert child.stderr is not None
        assert child.stderr.readline() == b"done\n"
        assert child.wait(60) == 0
        child.stderr.close()
    os.kill(int((tmp_path / "out").read_text(encoding="ascii")), signal.SIGKILL)


def test_with_stderr_nowhere_or_closed_the_command_runs(tmp_path: Path) -> None:
    for tail in ("2>/dev/null", "2>&-"):
        (tmp_path / "s").unlink(missing_ok=True)
        command = " ".join(gpudoctor("run", "-q", "--session", "s", "--", PYTHON, "-c", "'print(7)'"))
        ran = subprocess.run(
            ["sh", "-c", f"{command} {tail}"],
            cwd=tmp_path,
            env=surroundings(tmp_path),
            stdout=subprocess.PIPE,
            check=False,
        )
        assert (ran.returncode, ran.stdout) == (0, b"7\n")


def test_too_much_at_once_is_left_out_and_counted() -> None:
    rows: list[dict[str, object]] = []
    tap = TextTap(lambda row: rows.append(dict(row)))
    for _ in range(3):
        tap.hear(b"x" * BACKLOG_BYTES)
    tap.finish(5)
    assert rows[-1]["details"] == {"lines": "2", "left_out_bytes": str(2 * BACKLOG_BYTES)}


def test_output_that_came_too_fast_is_told(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "s")
    writer.note(command=["python", "train.py"])
    for name, size in (("stdout", 3 << 20), ("stderr", 0)):
        left = {"left_out_bytes": str(size)} if size else {}
        writer.add("messages", process=name, number=0, kind="text_end", details={"lines": "9", **left})
    writer.close(whole=True)
    assert "3.0 MiB of the output came faster than it is read for messages" in remarks(
        replace(read_session(tmp_path / "s"), processes=(ProcessRecord(process="7-1", pid=7),))
    )


def test_a_message_in_two_pieces_is_one() -> None:
    rows: list[dict[str, object]] = []
    tap = TextTap(lambda row: rows.append(dict(row)))
    for piece in (NO_DRIVER[:70], NO_DRIVER[70:] + "\n"):
        tap.hear(piece.encode())
        tap.read(5)
    assert [each["kind"] for each in rows if each["number"]] == [KIND]


def test_a_message_tells_when_it_was_read() -> None:
    rows: list[dict[str, Any]] = []
    tap = TextTap(lambda row: rows.append(dict(row)))
    before = time.time()
    tap.hear(f"{NO_DRIVER}\n".encode())
    tap.read(5)
    assert all(before <= each["at"] <= time.time() for each in rows)
    assert {each["number"] for each in rows} == {0, 1}


def test_a_plain_run_and_a_watched_one_print_the_same_bytes_to_two_pipes(tmp_path: Path) -> None:
    name = script(tmp_path, TURNS)
    alone, watched = plain(tmp_path, PYTHON, name), run(tmp_path, PYTHON, name)
    assert (watched.out, watched.err) == (alone.out, alone.err)


@pytest.mark.parametrize("ends", ["raise ValueError('x')", "sys.exit(0)"])
def test_the_report_says_which_exception_ended_the_command(tmp_path: Path, ends: str) -> None:
    caught = "try: raise KeyError('caught')\nexcept KeyError: traceback.print_exc()\n"
    ran = run(tmp_path, PYTHON, script(tmp_path, f"import sys, traceback\n{caught}{ends}\n"), options=())
    report = ran.err.decode().partition("gpudoctor report")[2]
    assert ("  ended by ValueError: x\n" in report) == ("ValueError" in ends)
    assert "KeyError" not in report
