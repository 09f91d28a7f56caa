"""What a run loads: a command that starts slowly, or pulls TensorFlow into a look at the driver, is not used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, environment
from tests.system.command import bare_environment
from tests.system.target import StandIn

ALL_HEAVY = ("textual", "rich", "tensorflow", "keras", "numpy", "pynvml", "psutil", "msgspec")
NEVER_IN_A_QUICK_SCAN = ("textual", "rich", "tensorflow", "keras", "numpy")
REPLAY = str(Path(__file__).parents[2] / "fixtures/machines/healthy-t4/snapshot.json")
# Told on stderr after the command: which of the named modules this process has loaded.
WATCHED = """
import atexit, sys
from gpudoctor.cli.main import main
names = sys.argv.pop(1).split(",")
code = main()
sys.stdout.flush()
loaded = sorted(name for name in names if name in sys.modules)
sys.stderr.write("loaded: " + ",".join(loaded) + "\\n")
sys.exit(code)
"""


def loaded(names: tuple[str, ...], *arguments: str, env: dict[str, str]) -> str:
    command = [sys.executable, "-c", WATCHED, ",".join(names), *arguments]
    done = subprocess.run(command, env=env, cwd=env["HOME"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in {0, 1}, done.stderr
    assert done.stdout
    return done.stderr.splitlines()[-1].removeprefix("loaded: ")


@pytest.mark.parametrize("words", ["--help", "--version", "", "scan --help", "probe --help"])
def test_help_and_version_load_nothing_heavy(words: str, tmp_path: Path) -> None:
    assert loaded(ALL_HEAVY, *words.split(), env=bare_environment(tmp_path)) == ""


@pytest.mark.parametrize("words", ["checks", "explain GD101", "explain throttle"])
def test_what_only_lists_and_explains_loads_no_collector(words: str, tmp_path: Path) -> None:
    names = ("textual", "rich", "tensorflow", "pynvml", "psutil")
    assert loaded(names, *words.split(), env=bare_environment(tmp_path)) == ""


@pytest.mark.parametrize("form", ["--json", "-v"])
@pytest.mark.parametrize("name", ["base", "init_driver_not_loaded"])
def test_a_quick_scan_loads_neither_tensorflow_nor_the_screens(
    form: str, name: str, stand_in: StandIn, tmp_path: Path
) -> None:
    words = ("scan", "--level", "quick", form, "--python", str(stand_in.python))
    assert loaded(NEVER_IN_A_QUICK_SCAN, *words, env=environment(SCENARIOS[name], tmp_path)) == ""


def test_a_quick_scan_asks_the_driver_in_children_and_loads_its_bindings_nowhere_else(
    stand_in: StandIn, tmp_path: Path
) -> None:
    words = ("scan", "--level", "quick", "--json", "--python", str(stand_in.python))
    assert loaded(("pynvml", "tensorflow"), *words, env=environment(FURTHER_SCENARIOS["healthy"], tmp_path)) == ""


def test_a_replay_loads_no_collector(tmp_path: Path) -> None:
    names = ("textual", "rich", "tensorflow", "pynvml", "psutil", "gpudoctor.collect", "gpudoctor.probe")
    assert loaded(names, "scan", "--json", "--snapshot", REPLAY, env=bare_environment(tmp_path)) == ""


def test_pcie_throughput_which_blocks_is_never_asked_for(stand_in: StandIn, tmp_path: Path) -> None:
    env = environment(FURTHER_SCENARIOS["healthy_8"], tmp_path)
    loaded((), "scan", "--level", "quick", "--json", "--python", str(stand_in.python), env=env)
    calls = (tmp_path / "nvml-calls.log").read_text(encoding="utf-8")
    assert "utilization" in calls
    assert "pcie_throughput" not in calls
