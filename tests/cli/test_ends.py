"""However a command ends, it says so and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "gpudoctor"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_a_json_document_and_its_exit_code(tmp_path: Path, number: int, code: int) -> None:
    slow, place = tmp_path / "python", tmp_path / "tmp"
    slow.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexec sleep 600\n")
    slow.chmod(0o755)
    place.mkdir()
    running = subprocess.Popen(
        [*COMMAND, "scan", "--json", "--level", "quick", "--timeout", "600", "--python", str(slow)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )
    limit = time.monotonic() + 60
    while not (tmp_path / "asked").exists():
        assert time.monotonic() < limit
        time.sleep(0.01)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == code
    assert json.loads(out)["summary"]["status"] == "unknown"
    assert "Traceback" not in err
    assert list(place.iterdir()) == []


def test_a_folder_that_is_gone_is_a_usage_error(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, *COMMAND, "scan", "--level", "quick"],
        cwd=gone,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "gpudoctor: the current folder is gone; cd to one that exists\n"


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("{g} scan --no-such-option 2>/dev/full", 2),
        ("{g} scan --json --no-such-option >/dev/full", 2),
        ("{g} scan --json --no-such-option >&-", 2),
        ("{{ {g} scan --json --no-such-option; echo $? >&2; }} | true", 0),
    ],
)
def test_the_exit_code_survives_streams_that_take_nothing(shell: str, code: int) -> None:
    done = subprocess.run(
        ["bash", "-c", shell.format(g=f"{sys.executable} -m gpudoctor")], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    if code == 0:
        assert done.stderr.splitlines()[-1] == "2"
