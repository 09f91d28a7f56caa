"""A training that was started from the dashboard outlives what becomes of its log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINES = (
    "import pathlib, sys\nfor each in range(9): print(each, flush=True)\npathlib.Path('ended').touch()\nsys.exit(3)\n"
)


@pytest.mark.parametrize("log", ["/dev/full", "no/such/folder/log", "log"])
def test_a_log_that_takes_nothing_leaves_the_command_alone(tmp_path: Path, log: str) -> None:
    words = [sys.executable, "-m", "gpudoctor.tui.sampling.kept_command", log, sys.executable, "-c", LINES]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (3, b"")
    assert (tmp_path / "ended").exists()
    if log == "log":
        assert (tmp_path / log).read_bytes().split() == [str(each).encode() for each in range(9)]
