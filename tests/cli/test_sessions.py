"""Sessions are listed, reported without a name, and deleted by name or age, but never while they are recorded."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from gpudoctor.profile.record import SessionWriter
from tests.profile.launched import gpudoctor, surroundings

DAY_S = 86_400


def made(folder: Path, name: str, *, days: float, running: bool = False) -> SessionWriter:
    """Record a session of so many days ago."""
    place = folder / "state/gpudoctor/sessions"
    place.mkdir(parents=True, exist_ok=True)
    writer = SessionWriter(place / f"{name}.session")
    writer.note(
        session=name, command=["python", f"{name}.py"], started_at=time.time() - days * DAY_S, outcome="running"
    )
    if not running:
        writer.note(outcome="ended", exit_code=0, ended_at=time.time())
        writer.close()
    return writer


def asked(folder: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        gpudoctor(*words), env=surroundings(folder), cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def two(tmp_path: Path) -> Path:
    made(tmp_path, "aa11", days=40)
    made(tmp_path, "bb22", days=1)
    return tmp_path


def test_the_newest_stands_first_and_is_what_report_takes(two: Path) -> None:
    code, out, _ = asked(two, "sessions")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["bb22", "aa11"]
    assert "bb22.py ended 0" in asked(two, "report")[1]


def test_how_long_a_step_took_stands_beside_a_run_that_trained(two: Path) -> None:
    trained = made(two, "dd44", days=0, running=True)
    trained.add("processes", process="1-1", pid=1, ppid=0, started_at=1.0, tensorflow_version="2.21.0")
    trained.add("loops", process="1-1", loop=0, label="fit", kind="graph", file="dd44.py", line=9, graph="step:1")
    for second in range(20):
        trained.add("steps", process="1-1", loop=0, at=10.0 + second, count=50 * second, wait_s=0.1 * second)
    trained.note(outcome="ended", exit_code=0, ended_at=time.time())
    trained.close()
    first, *others = asked(two, "sessions")[1].splitlines()
    assert first.split()[-3:] == ["20", "ms/step", "dd44.py"]
    assert all(line.split()[-2] == "-" for line in others)
    told = json.loads(asked(two, "sessions", "--json")[1])
    assert told[0]["step_s"] == pytest.approx(0.02, rel=0.01)
    assert "step_s" not in told[1]


def test_one_is_deleted_by_the_beginning_of_its_id(two: Path) -> None:
    assert asked(two, "sessions", "--delete", "aa") == (0, "deleted aa11\n", "")
    assert [line.split()[0] for line in asked(two, "sessions")[1].splitlines()] == ["bb22"]


def test_old_ones_are_deleted_by_age(two: Path) -> None:
    assert asked(two, "sessions", "--older-than", "30") == (0, "deleted aa11\n", "")
    assert asked(two, "sessions", "--older-than", "30") == (0, "nothing to delete\n", "")


def test_one_that_is_recorded_now_is_never_deleted(tmp_path: Path) -> None:
    writer = made(tmp_path, "cc33", days=50, running=True)
    code, _, err = asked(tmp_path, "sessions", "--delete", "cc33")
    assert code == 2
    assert "still being recorded" in err
    assert asked(tmp_path, "sessions", "--older-than", "30")[1] == "nothing to delete\n"
    writer.close()


def test_without_any_session_report_says_how_to_make_one(tmp_path: Path) -> None:
    code, _, err = asked(tmp_path, "report")
    assert code == 2
    assert "gpudoctor run -- python train.py" in err


def test_report_shows_all_of_it_on_demand(two: Path) -> None:
    assert asked(two, "report", "bb", "-v")[0] == 0
