"""A session on a network's file system is written on a local disk and put in its place at the end, or by its next reader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor.errors import UsageError
from gpudoctor.profile.placing import NOTE, file_system, is_remote
from gpudoctor.profile.record import read_session, spool_folder
from tests.profile.launched import gpudoctor, script, surroundings

PYTHON = sys.executable


def machine(folder: Path, *mounts: tuple[str, str]) -> Path:
    """Build a root whose mounts are these: place, type."""
    root = folder / "root"
    (root / "proc/self").mkdir(parents=True)
    rows = [("/", "ext4"), *mounts]
    (root / "proc/self/mountinfo").write_text(
        "".join(
            f"{30 + number} 1 0:{number} / {place} rw,relatime shared:1 - {kind} source rw\n"
            for number, (place, kind) in enumerate(rows)
        ),
        encoding="ascii",
    )
    return root


def started(folder: Path, text: str, kind: str = "nfs4") -> subprocess.Popen[bytes]:
    disk = folder / "shared disk"
    disk.mkdir()
    (folder / "tmp").mkdir()
    root = machine(folder, (str(disk).replace(" ", "\\040"), kind))
    return subprocess.Popen(
        gpudoctor("run", "-q", "--session", str(disk / "s"), "--", PYTHON, script(folder, text)),
        cwd=folder,
        env=surroundings(folder, GPUDOCTOR_SYSROOT=str(root), TMPDIR=str(folder / "tmp")),
        stdout=subprocess.PIPE,
    )


def test_the_deepest_mount_decides(tmp_path: Path) -> None:
    root = machine(tmp_path, ("/data", "nfs4"), ("/data/fast", "xfs"), ("/data/my\\040disk", "fuse.sshfs"))
    told = [
        file_system(Path(each), root) for each in ("/s", "/data/s", "/data/fast/a/s", "/data/my disk/s", "/database/s")
    ]
    assert told == ["ext4", "nfs4", "xfs", "fuse.sshfs", "ext4"]
    assert [is_remote(each) for each in told] == [False, True, False, True, False]
    assert file_system(Path("/s"), tmp_path / "none") == ""


def test_at_the_end_one_file_lies_where_it_was_wanted_and_nothing_elsewhere(tmp_path: Path) -> None:
    child = started(tmp_path, "print(1)")
    assert child.wait(60) == 0
    assert child.stdout is not None
    child.stdout.close()
    assert [each.name for each in (tmp_path / "shared disk").iterdir()] == ["s"]
    assert list((tmp_path / "tmp").iterdir()) == []
    assert read_session(tmp_path / "shared disk/s").outcome == "ended"


def test_after_a_kill_the_next_reader_finds_it_and_puts_it_there(tmp_path: Path) -> None:
    child = started(tmp_path, "import time\nprint('ready', flush=True)\ntime.sleep(2)\n")
    assert child.stdout is not None
    child.stdout.readline()
    wanted = tmp_path / "shared disk/s"
    assert wanted.read_bytes().startswith(NOTE)
    child.kill()
    assert child.wait(60) == -signal.SIGKILL
    assert read_session(wanted).outcome == "cut_short"
    assert read_session(wanted).hello
    child.stdout.read()
    child.stdout.close()
    deadline = time.monotonic() + 60
    while wanted.read_bytes().startswith(NOTE) and time.monotonic() < deadline:
        time.sleep(0.2)
        read_session(wanted)
    assert read_session(wanted).outcome == "cut_short"
    assert not spool_folder(wanted).exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_note_whose_machine_is_another_one_is_explained(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(NOTE + os.fsencode(tmp_path / "gone/s") + b"\n")
    with pytest.raises(UsageError, match="on the machine where it was made"):
        read_session(tmp_path / "s")
