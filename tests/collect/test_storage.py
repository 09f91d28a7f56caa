"""The file system of a folder comes from the table of mounts; the folder itself is never touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpudoctor.collect.storage import WORKING_FOLDER, read_storage
from gpudoctor.model.machine import Storage
from gpudoctor.model.missing import Missing


def _root(tmp_path: Path, *mounts: tuple[str, str]) -> Path:
    lines = (
        f"{n} 1 0:{n} / {place} rw,relatime shared:{n} - {kind} source rw\n" for n, (place, kind) in enumerate(mounts)
    )
    table = tmp_path / "root/proc/self/mountinfo"
    table.parent.mkdir(parents=True)
    table.write_text("".join(lines), encoding="utf-8")
    return tmp_path / "root"


def test_the_nearest_mount_above_the_folder_counts(tmp_path: Path) -> None:
    root = _root(tmp_path, ("/", "ext4"), ("/data", "nfs4"), ("/data/fast", "xfs"))
    found = read_storage(root, {"TFDS_DATA_DIR": "/data/sets/./a", "KERAS_HOME": "/data/fast/keras"})
    assert isinstance(found, tuple)
    assert found[1:] == (
        Storage(folder="TFDS_DATA_DIR", filesystem="nfs4"),
        Storage(folder="KERAS_HOME", filesystem="xfs"),
    )


def test_the_working_folder_is_looked_up_first(tmp_path: Path) -> None:
    root = _root(tmp_path, ("/", "ext4"), (os.getcwd(), "fuse.s3fs"))  # noqa: PTH109  # as the collector asks
    assert read_storage(root, {}) == (Storage(folder=WORKING_FOLDER, filesystem="fuse.s3fs"),)


def test_a_later_mount_over_the_same_place_is_the_one_that_is_seen(tmp_path: Path) -> None:
    assert read_storage(_root(tmp_path, ("/", "ext4"), ("/", "overlay")), {}) == (
        Storage(folder=WORKING_FOLDER, filesystem="overlay"),
    )


def test_a_blank_in_a_path_is_written_in_octal(tmp_path: Path) -> None:
    root = _root(tmp_path, ("/", "ext4"), (r"/mnt/my\040disk", "9p"))
    found = read_storage(root, {"TFDS_DATA_DIR": "/mnt/my disk/sets"})
    assert isinstance(found, tuple)
    assert found[1].filesystem == "9p"


@pytest.mark.parametrize("value", ["gs://bucket/sets", "relative/folder", ""])
def test_what_is_no_absolute_folder_is_left_out(tmp_path: Path, value: str) -> None:
    found = read_storage(_root(tmp_path, ("/", "ext4")), {"TFDS_DATA_DIR": value})
    assert isinstance(found, tuple)
    assert [each.folder for each in found] == [WORKING_FOLDER]


def test_without_the_table_nothing_is_known(tmp_path: Path) -> None:
    assert isinstance(read_storage(tmp_path, {}), Missing)


def test_this_machine_tells_its_working_folder() -> None:
    found = read_storage(Path("/"), {})
    assert isinstance(found, tuple)
    assert found[0].folder == WORKING_FOLDER
