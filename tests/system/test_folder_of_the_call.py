"""A folder whose files shadow modules: the scan finds them, and is not broken by them itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.system.command import Run, assert_clean, bare_environment, gpudoctor, run

SHADOWS = ("random.py", "tensorflow.py", "json.py", "typing.py", "logging.py")


def scanned(folder: Path, *command: str) -> Run:
    (folder / "work").mkdir(exist_ok=True)
    for name in SHADOWS:
        (folder / "work" / name).write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    options = ("scan", "--level", "quick", "--json", "--python", sys.executable)
    env = bare_environment(folder / "home")
    return (
        run((*command, *options), env=env, folder=folder / "work")
        if command
        else gpudoctor(*options, env=env, folder=folder / "work")
    )


@pytest.mark.parametrize("command", [(), (str(Path(sys.executable).with_name("gpudoctor")),)], ids=["-m", "script"])
def test_files_that_shadow_modules_are_found_and_harm_no_scan(command: tuple[str, ...], tmp_path: Path) -> None:
    if command and not Path(command[0]).exists():
        pytest.skip("the command is not installed beside this interpreter")
    told = scanned(tmp_path, *command)
    assert_clean(told)
    (finding,) = [each for each in told.document["findings"] if each["code"] == "GD312"]
    assert told.document["snapshot"]["python"]["shadowing"] == sorted(SHADOWS)
    assert finding["severity"] == "warning"


def test_a_clean_folder_has_none(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/train.py").touch()
    report = gpudoctor(
        "scan", "--level", "quick", "--json", env=bare_environment(tmp_path / "home"), folder=tmp_path / "work"
    ).document
    assert report["snapshot"]["python"]["shadowing"] == []
