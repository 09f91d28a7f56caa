"""A place that cannot be written is told before the command starts; one that is lost meanwhile costs the file, no report."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.profile.launched import gpudoctor, script, surroundings

SAYS_SO = "import pathlib, sys\npathlib.Path('it_ran').touch()\nsys.exit(3)\n"
TAKES_AWAY = """
import pathlib, shutil, sys, time
time.sleep(1.2)  # a second's tick is over
shutil.rmtree(sys.argv[1])
time.sleep(1.2)
pathlib.Path('it_ran').touch()
sys.exit(3)
"""


def started(folder: Path, *options: str, text: str = SAYS_SO, arguments: tuple[str, ...] = ()) -> tuple[int, str, bool]:
    """Return exit code, stderr, and whether the command ran."""
    command = gpudoctor("run", *options, "--", sys.executable, script(folder, text), *arguments)
    done = subprocess.run(
        command, cwd=folder, env=surroundings(folder), capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stderr, (folder / "it_ran").exists()


@pytest.mark.parametrize("option", ["--json", "--session"])
@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("no/such/folder/file", "No such file or directory"),
        (".", ""),
        ("train.py/file", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("", "the name is empty"),
        ("train.py", ""),
    ],
)
def test_a_place_that_cannot_be_written_is_a_usage_error_and_nothing_runs(
    tmp_path: Path, option: str, place: str, why: str
) -> None:
    code, said, ran = started(tmp_path, option, place)
    assert (code, ran) == (2, False)
    assert option in said
    assert why in said
    assert "Traceback" not in said
    assert sorted(os.listdir(tmp_path)) == ["train.py"]  # noqa: PTH208  # names only
    assert (tmp_path / "train.py").read_text() == SAYS_SO


def test_a_session_is_no_stream(tmp_path: Path) -> None:
    code, said, ran = started(tmp_path, "--session", "-")
    assert (code, ran) == (2, False)
    assert "--session -" in said
    assert os.listdir(tmp_path) == ["train.py"]  # noqa: PTH208  # names only


def test_the_report_does_not_replace_the_session(tmp_path: Path) -> None:
    code, said, ran = started(tmp_path, "--session", "one", "--json", "./one")
    assert (code, ran) == (2, False)
    assert "the report would replace it" in said


def test_a_folder_that_may_not_be_written_to_is_told_before(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    if os.access(tmp_path / "closed", os.W_OK):
        pytest.skip("whoever runs this may write everywhere")
    for option in ("--json", "--session"):
        code, said, ran = started(tmp_path, option, "closed/file")
        assert (code, ran) == (2, False)
        assert "Permission denied" in said


def test_an_old_report_is_still_there_where_the_command_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("old")
    assert started(tmp_path, "--json", "report.json", "--session", "no/such/folder/file")[0] == 2
    assert (tmp_path / "report.json").read_text() == "old"
    assert started(tmp_path, "-q", "--json", "report.json")[0] == 3
    assert json.loads((tmp_path / "report.json").read_text())["run"]["exit_code"] == 3


def test_a_place_for_json_that_is_lost_meanwhile_costs_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    code, said, ran = started(tmp_path, "--json", "place/report.json", text=TAKES_AWAY, arguments=("place",))
    assert (code, ran) == (3, True)
    assert "train.py ended 3" in said
    assert "gpudoctor: the report was not written: place/report.json: cannot be written (No such file" in said


def test_a_place_for_the_session_that_is_lost_meanwhile_leaves_a_report_and_a_copy_that_it_names(
    tmp_path: Path,
) -> None:
    (tmp_path / "place").mkdir()
    code, said, ran = started(tmp_path, "--session", "place/one", text=TAKES_AWAY, arguments=("place",))
    assert (code, ran) == (3, True)
    assert "train.py ended 3" in said
    kept = Path(said.split("what there is of it lies at ")[1].splitlines()[0])
    asked = subprocess.run(gpudoctor("report", str(kept)), capture_output=True, text=True, check=False)
    shutil.rmtree(kept.parent)
    assert f"gpudoctor report {kept}" in said
    assert "train.py ended 3" in asked.stdout


def test_the_report_names_a_session_as_it_is_found_again(tmp_path: Path) -> None:
    said = started(tmp_path, "--session", "one of mine.session")[1]
    command = said.split("| gpudoctor ")[1].splitlines()[0]
    shown = subprocess.run(
        gpudoctor(*shlex.split(command)),
        cwd=tmp_path,
        env=surroundings(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "train.py ended 3" in shown.stdout
