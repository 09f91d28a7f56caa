"""Whatever a command does, it ends as it does alone, and the report says in a sentence what could be seen."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.profile.launched import Ran, gpudoctor, plain, run, surroundings, with_tensorflow
from tests.side_by_side import together

SCRIPT = str(Path(__file__).parent / "scripts" / "ways_to_end.py")
OURS = "gpudoctor report"


def told(ran: Ran) -> str:
    """Return what we printed, on one line."""
    text = ran.err.decode()
    return " ".join(text[text.index(OURS) :].split())


def counted(ran: Ran) -> list[int]:
    """Return the steps of each process that trained."""
    most: dict[str, int] = {}
    for each in ran.session.steps:
        most[each.process] = max(most.get(each.process, 0), each.count)
    return sorted(most.values())


def same(folder: Path, way: str) -> Ran:
    """Run it alone and watched: the same output and exit code, and no fault of ours."""
    command = (with_tensorflow(), SCRIPT, way)
    (folder / "alone").mkdir()
    watched, alone = together(partial(run, folder, *command, options=()), partial(plain, folder / "alone", *command))
    assert (watched.code, watched.out) == (alone.code, alone.out), watched.err.decode()[-3000:]
    assert watched.err.count(b"Traceback") == alone.err.count(b"Traceback")
    assert not [each for each in watched.session.events if each.kind == "agent_fault"]
    return watched


@pytest.mark.tensorflow
def test_a_crash_in_step_3_is_the_scripts_own_and_its_steps_are_there(tmp_path: Path) -> None:
    ran = same(tmp_path, "crash_in_step_3")
    assert ran.code == 1
    assert counted(ran) == [3]
    assert "ways_to_end.py ended 1 after" in told(ran)
    assert "_gpudoctor_agent" not in ran.err.decode()


@pytest.mark.tensorflow
def test_tensorflow_without_training_is_said(tmp_path: Path) -> None:
    ran = same(tmp_path, "never_trains")
    assert ran.code == 0
    assert "TensorFlow was imported, but no training step was seen" in told(ran)


@pytest.mark.tensorflow
def test_a_run_of_a_few_seconds_has_a_report(tmp_path: Path) -> None:
    ran = same(tmp_path, "trained")
    assert counted(ran) == [60]
    assert re.search(r"ended 0 after 0:\d\d; \d+ (steady )?steps", told(ran))


@pytest.mark.tensorflow
@pytest.mark.parametrize("way", ["profiles_itself", "profiles_some_steps"])
def test_a_script_that_profiles_itself_keeps_its_own_trace_and_is_counted(tmp_path: Path, way: str) -> None:
    ran = same(tmp_path, way)
    assert counted(ran) == [60]
    assert list((tmp_path / "theirs").rglob("*.xplane.pb"))


@pytest.mark.tensorflow
@pytest.mark.parametrize(("way", "steps"), [("spawned", [60]), ("forked", [60]), ("launcher", [60, 60])])
def test_training_in_a_child_is_seen(tmp_path: Path, way: str, steps: list[int]) -> None:
    ran = same(tmp_path, way) if way != "launcher" else run(tmp_path, with_tensorflow(), SCRIPT, way, options=())
    assert ran.code == 0
    assert counted(ran) == steps
    assert "never imported" not in told(ran)


@pytest.mark.tensorflow
def test_training_in_sessions_of_tensorflow_1_is_said_to_be_unseen(tmp_path: Path) -> None:
    ran = same(tmp_path, "sessions")
    assert ran.code == 0
    assert "no training step was seen: it runs TensorFlow 1 graphs in sessions" in " ".join(told(ran).split())


@pytest.mark.tensorflow
def test_a_child_whose_environment_was_cleared_is_named(tmp_path: Path) -> None:
    ran = same(tmp_path, "launcher_that_clears")
    assert ran.code == 0
    assert "a Python process ran without the recorder (" in told(ran)
    assert "ways_to_end.py trained)" in told(ran)
    assert "a launcher that clears PYTHONPATH" in told(ran)


def test_without_tensorflow_its_absence_is_the_scripts_own_error(tmp_path: Path) -> None:
    command = (sys.executable, "-S", "-c", "import tensorflow")
    alone, ran = plain(tmp_path, *command), run(tmp_path, *command, options=())
    assert ran.code == alone.code == 1
    assert alone.err in ran.err
    assert "python -S ignores PYTHONPATH" in told(ran)


def test_a_gigabyte_is_printed_at_its_own_pace(tmp_path: Path) -> None:
    """A tenth of it: the pace is what counts, and it must not be kept anywhere."""
    text = "import os\nfor _ in range(1000): os.write(1, b'x' * 99_999 + b'\\n')\n"
    (tmp_path / "loud.py").write_text(text, encoding="ascii")
    command = gpudoctor("run", "--session", "s", "--", sys.executable, "loud.py")
    done = subprocess.run(
        command, cwd=tmp_path, env=surroundings(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    assert done.returncode == 0
    assert done.stdout.count(b"x" * 99_999 + b"\n") == 1000
    assert b"never imported TensorFlow" in b" ".join(done.stdout[-2000:].split())
    assert (tmp_path / "s").stat().st_size < 1 << 20
