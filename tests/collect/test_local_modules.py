"""Files that stand in a module's way, and those that do not."""

from __future__ import annotations

from pathlib import Path

from gpudoctor.collect.local_modules import shadowing


def test_files_and_packages_of_those_names_are_found_and_others_are_not(tmp_path: Path) -> None:
    for name in ("tensorflow.py", "random.py", "train.py", "numpy.txt", "types.pyc.bak"):
        (tmp_path / name).touch()
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras/__init__.py").touch()
    (tmp_path / "logging").mkdir()  # a mere folder: the real package wins
    assert shadowing(tmp_path) == ("keras/", "random.py", "tensorflow.py")


def test_a_folder_that_cannot_be_read_shadows_nothing(tmp_path: Path) -> None:
    assert shadowing(tmp_path / "none") == ()
