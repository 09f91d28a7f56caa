"""What the README promises is true: its commands run, its tables name all commands, its example is the real output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.cli.parser import COMMANDS
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.present import run_text
from tests.profile.timelines import recorded

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MACHINE = ROOT / "fixtures/machines/healthy-t4/snapshot.json"
LOG = ROOT / "fixtures/logs/tf-2.21-retracing.log"
OTHER_TOOLS = {"--gpus", "--device", "--nv"}  # of docker, podman and apptainer, in the table of containers
COMMAND = re.compile(r"^\| `gpudoctor ([^`]+)` \|", re.MULTILINE)


def test_the_table_names_every_command() -> None:
    assert {words.split()[0] for words in COMMAND.findall(README)} == set(COMMANDS)


@pytest.mark.parametrize("words", COMMAND.findall(README))
def test_each_command_of_the_table_runs(words: str) -> None:
    arguments = words.split()
    if arguments[0] == "scan" and "--level" not in arguments:
        arguments += ["--level", "quick"]  # the trained scan has its own test
    if arguments[0] in {"probe", "bundle", "run", "report"} or (
        arguments[0] == "monitor" and "--once" not in arguments
    ):
        arguments = [arguments[0], "--help"]  # they have tests of their own; the dashboard needs a terminal
    if arguments[0] == "log":
        arguments[1:] = [str(LOG), "--no-machine", "--fail-on", "never"]
    if arguments[0] == "compare":
        arguments[1:3] = [str(MACHINE), str(MACHINE)]
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_example_is_what_a_scan_prints() -> None:
    (words, shown) = re.findall(r"\(`(scan --snapshot [^`]+)`\):\n\n```text\n(.*?)```", README, re.DOTALL)[0]
    command = [sys.executable, "-m", "gpudoctor", *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert done.stdout == shown


def test_the_example_of_a_run_is_what_its_recording_says() -> None:
    (name, shown) = re.findall(r"`fixtures/timelines/([^`]+)\.json`\):\n\n```text\n(.*?)```", README, re.DOTALL)[0]
    made = run_text.render(report_of_run(recorded(name), registry.load().checks))
    assert made.rstrip("\n") == shown.rstrip("\n")


def test_every_option_that_is_named_exists() -> None:
    helps = "".join(
        subprocess.run(
            [sys.executable, "-m", "gpudoctor", name, "--help"], capture_output=True, text=True, check=True
        ).stdout
        for name in COMMANDS
    )
    named = set(re.findall(r"`[^`]*?(--[a-z][a-z-]+)", README)) - OTHER_TOOLS
    assert named
    assert {option for option in named if option not in helps} == set()


def test_the_set_up_commands_stand_under_their_marks() -> None:
    for mark, ends in (("scan-command", "/gpudoctor scan"), ("test-command", "-m pytest")):
        block = README.split(f"<!-- {mark} -->")[1].split("```sh\n")[1].split("```")[0].strip()
        assert block.startswith("python3 -m venv .venv && ")
        assert block.endswith(ends)
