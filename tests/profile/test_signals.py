"""A command that a signal ended is told by the signal's name, in every form; a code that a shell made of one says so."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpudoctor.model.session import Event
from gpudoctor.profile import signals
from tests.profile.launched import Ran, gpudoctor, run, script, surroundings
from tests.profile.timelines import session

ENDS_ITSELF = "import os, signal, sys; os.kill(os.getpid(), int(sys.argv[1]))"


def ended(folder: Path, number: int) -> tuple[Ran, str]:
    """Return the run of a command that a signal ends, and the report's first words of it."""
    ran = run(folder, sys.executable, script(folder, ENDS_ITSELF), str(number), options=())
    return ran, next(line for line in ran.err.decode().splitlines() if line.startswith("train.py ended"))


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGTERM, "train.py ended by SIGTERM (143)"),
        (signal.SIGSEGV, "train.py ended by SIGSEGV (139)"),
        (signal.SIGKILL, "train.py ended by SIGKILL (137)"),
    ],
)
def test_the_signal_is_named(tmp_path: Path, number: int, told: str) -> None:
    ran, line = ended(tmp_path, number)
    assert ran.code == 128 + number
    assert line.startswith(told)


def test_markdown_json_and_the_list_name_it_too(tmp_path: Path) -> None:
    place = tmp_path / "state/gpudoctor/sessions/one.session"
    place.parent.mkdir(parents=True)
    command = ["run", "-q", "--session", str(place), "--", sys.executable, script(tmp_path, ENDS_ITSELF), "15"]
    asked = [command, ["report", "one", "--format", "markdown"], ["report", "one", "--json"], ["sessions"]]
    asked.append(["sessions", "--json"])
    said = [
        subprocess.run(
            gpudoctor(*words), cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, text=True, check=False
        ).stdout
        for words in asked
    ]
    assert "train.py ended by SIGTERM (143)" in said[1]
    run = json.loads(said[2])["run"]
    assert (run["signal"], run["exit_code"]) == ("SIGTERM", 143)
    assert "SIGTERM" in said[3]
    assert '"signal": "SIGTERM"' in said[4]


def test_a_code_as_a_shell_makes_it_is_told_as_such_and_is_no_signal_of_the_commands(tmp_path: Path) -> None:
    ran = run(tmp_path, "sh", "-c", f"{sys.executable} -c 'import os; os.kill(os.getpid(), 11)'; exit $?", options=())
    assert ran.code == 139
    assert "ended 139 (what a shell returns after SIGSEGV)" in " ".join(ran.err.decode().split())
    assert signals.ended_by(ran.session) == ""


@pytest.mark.parametrize("code", [0, 1, 2, 127, 128, 255])
def test_other_codes_stand_as_they_are(code: int) -> None:
    assert signals.as_after(code) == ""


def test_a_negative_code_and_a_signal_without_a_name_are_told_as_far_as_they_are_known() -> None:
    assert signals.ended_by(replace(session(), exit_code=-9)) == "SIGKILL"
    nameless = replace(session(), exit_code=161, events=(Event(at=1.0, kind="signal", text="33"),))
    assert signals.ended_by(nameless) == "signal 33"


def test_the_schema_of_a_report_has_the_field() -> None:
    told = subprocess.run(gpudoctor("schema"), capture_output=True, text=True, check=True).stdout
    assert "signal" in json.loads(told)["$defs"]["Run"]["properties"]
