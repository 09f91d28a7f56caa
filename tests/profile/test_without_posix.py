"""Where fcntl, pty, resource and termios do not exist, everything but the launcher can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gpudoctor.profile

FOLDER = Path(gpudoctor.profile.__file__).parent
POSIX_ONLY = {"launch", "terminal", "relay", "printed"}  # the launcher
MODULES = sorted(each.stem for each in FOLDER.glob("*.py") if each.stem not in {"__init__", *POSIX_ONLY})
BLOCKED = """
import sys
for name in ("fcntl", "pty", "resource", "termios", "tty"):
    sys.modules[name] = None
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


@pytest.mark.parametrize("names", [[f"gpudoctor.profile.{each}" for each in MODULES], ["gpudoctor.cli.run"]])
def test_modules_import_without_posix(names: list[str]) -> None:
    told = subprocess.run([sys.executable, "-c", BLOCKED, *names], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr


def test_the_command_line_says_that_it_needs_linux_and_loads_no_launcher() -> None:
    text = (
        BLOCKED
        + "\nfrom gpudoctor.cli.parser import parse\nparse(['run', '--', 'x'])\nassert 'gpudoctor.profile.launch' not in sys.modules"
    )
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
