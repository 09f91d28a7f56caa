"""The support archive: redacted, shown first, private, judged the same elsewhere, and harmless to read when it is hostile."""

from __future__ import annotations

import gzip
import io
import json
import os
import pty
import re
import stat
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.slow_machines import at_most
from tests.system.command import GPUDOCTOR, Run, assert_clean, bare_environment, gpudoctor
from tests.system.target import build

MACHINES = Path(__file__).parents[2] / "fixtures/machines"
MACHINE = MACHINES / "t4-memory-held-by-another-user/snapshot.json"
SNAPSHOT = "gpudoctor-bundle/snapshot.json"
UUID = "GPU-12345678-1234-1234-1234-123456789abc"


def bundle(folder: Path, *arguments: str | Path, machine: Path = MACHINE, yes: bool = True) -> Run:
    words = ("bundle", "--snapshot", machine, *arguments, *(("--yes",) if yes else ()))
    return gpudoctor(*words, env=bare_environment(folder / "home"))


def members(archive: Path) -> dict[str, str]:
    with tarfile.open(archive) as opened:
        return {each.name: opened.extractfile(each).read().decode() for each in opened}  # type: ignore[union-attr]


def with_identifiers(folder: Path) -> Path:
    """Return a snapshot that was saved with identifiers."""
    document = json.loads(MACHINE.read_text(encoding="utf-8"))
    gpu = document["gpus"][0]
    gpu["uuid"], gpu["serial"] = UUID, "0324518112233"
    for process in gpu["processes"]:
        process |= {"user": "carla", "command": "python train.py --token s3cret"}
    document["missing"] = {key: why for key, why in document["missing"].items() if "identifier" not in why}
    document["env"] = {"VIRTUAL_ENV": str(folder / "home/venv")}
    path = folder / "identified.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("machine", ["healthy-h100", "v100-driver-450", "laptop-without-gpu", "t4-no-tensorflow"])
def test_a_scan_of_the_bundle_gives_the_same_report(machine: str, tmp_path: Path) -> None:
    saved, env = MACHINES / machine / "snapshot.json", bare_environment(tmp_path)
    assert bundle(tmp_path, "-o", tmp_path / "b.tgz", machine=saved).code == 0
    direct = gpudoctor("scan", "--json", "--snapshot", saved, env=env)
    packed = gpudoctor("scan", "--json", "--snapshot", tmp_path / "b.tgz", env=env)
    assert packed.code == direct.code
    for part in ("findings", "fixes", "summary", "level", "snapshot", "not_judged"):
        assert packed.document[part] == direct.document[part], part
    inside = json.loads(members(tmp_path / "b.tgz")["gpudoctor-bundle/report.json"])
    assert inside["findings"] == direct.document["findings"]


def test_what_identifies_is_taken_out_and_counted(tmp_path: Path) -> None:
    run = bundle(tmp_path, "-o", tmp_path / "b.tgz", machine=with_identifiers(tmp_path))
    assert_clean(run)
    everything = "".join(members(tmp_path / "b.tgz").values()) + run.out
    for secret in (UUID, "0324518112233", "carla", "s3cret", str(tmp_path / "home/venv")):
        assert secret not in everything
    assert "GPU UUIDs (1), serial numbers (1), names of processes' users (1), command lines (1), texts with" in run.out


def test_identifiers_are_kept_only_where_they_are_asked_for(tmp_path: Path) -> None:
    machine = with_identifiers(tmp_path)
    run = bundle(tmp_path, "-o", tmp_path / "b.tgz", "--include-identifiers", machine=machine)
    assert "Nothing is taken out" in run.out
    assert UUID in members(tmp_path / "b.tgz")[SNAPSHOT]


def test_the_archive_is_private_and_names_nobody(tmp_path: Path) -> None:
    bundle(tmp_path, "-o", tmp_path / "b.tgz")
    assert stat.S_IMODE((tmp_path / "b.tgz").stat().st_mode) == 0o600
    with tarfile.open(tmp_path / "b.tgz") as archive:
        assert {(each.uid, each.gid, each.uname, each.gname) for each in archive} == {(0, 0, "", "")}
        assert len(archive.getnames()) == 4


def test_without_a_terminal_it_is_shown_and_not_written(tmp_path: Path) -> None:
    run = bundle(tmp_path, "-o", tmp_path / "b.tgz", yes=False)
    assert run.code == 2
    assert "snapshot.json" in run.out
    assert "Taken out:" in run.out
    assert "give --yes" in run.err
    assert not (tmp_path / "b.tgz").exists()


def test_without_a_terminal_a_machine_is_not_examined_in_vain(tmp_path: Path) -> None:
    python, asked = build(tmp_path / "venv").python, tmp_path / "asked"
    asked.touch()
    python.unlink()
    python.write_text(f'#!/bin/sh\necho "$@" >>{asked}\nexec {python}3 "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    env = bare_environment(tmp_path / "home", VIRTUAL_ENV=str(tmp_path / "venv"))
    run = gpudoctor("bundle", "-o", tmp_path / "b.tgz", env=env)
    assert (run.code, run.out) == (2, "")
    assert "give --yes" in run.err
    assert "probe/child.py" not in asked.read_text(encoding="utf-8"), "it probed before it refused"
    assert gpudoctor("bundle", "-o", tmp_path / "b.tgz", "--yes", env=env).code == 0
    assert "probe/child.py" in asked.read_text(encoding="utf-8")


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_it_asks(answer: str, written: bool, tmp_path: Path) -> None:
    main, terminal = pty.openpty()
    command = [*GPUDOCTOR, "bundle", "--snapshot", str(MACHINE), "-o", "b.tgz"]
    home = bare_environment(tmp_path / "home")
    with subprocess.Popen(
        command, env=home, cwd=tmp_path, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal
    ) as process:
        os.close(terminal)
        asked = os.read(main, 200).decode()
        assert not (tmp_path / "b.tgz").exists(), "written before the answer"
        os.write(main, answer.encode() + b"\n")
        assert process.stdout is not None
        out = process.stdout.read().decode()
        assert process.wait(timeout=60) == 0
    os.close(main)
    assert "Write it? [y/N]" in asked
    assert "snapshot.json" in out
    assert (tmp_path / "b.tgz").exists() is written


def _occupied(path: Path) -> None:
    path.write_text("mine", encoding="utf-8")


def _link(path: Path) -> None:
    (path.parent / "victim").write_text("mine", encoding="utf-8")
    path.symlink_to("victim")


def _dangling(path: Path) -> None:
    path.symlink_to("nothing")


@pytest.mark.parametrize("occupy", [_occupied, _link, _dangling])
def test_nothing_is_replaced_or_followed_unasked(occupy: Callable[[Path], None], tmp_path: Path) -> None:
    occupy(tmp_path / "b.tgz")
    run = bundle(tmp_path, "-o", tmp_path / "b.tgz")
    assert run.code == 2
    assert "exists already" in run.err
    assert not (tmp_path / "nothing").exists()
    assert bundle(tmp_path, "-o", tmp_path / "b.tgz", "--overwrite").code == 0
    assert (tmp_path / "b.tgz").is_file()
    assert not (tmp_path / "b.tgz").is_symlink()
    assert not (tmp_path / "nothing").exists()
    if (tmp_path / "victim").exists():
        assert (tmp_path / "victim").read_text(encoding="utf-8") == "mine"
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("place", ["nowhere/b.tgz", "."])
def test_a_place_that_cannot_be_is_told_before_the_examination(place: str, tmp_path: Path) -> None:
    run = gpudoctor("bundle", "-o", place, "--yes", env=bare_environment(tmp_path))
    assert_clean(run)
    assert (run.code, run.out) == (2, "")


@pytest.mark.parametrize(
    ("name", "cure"),
    [("b.zip", "b.tar.gz"), ("b.TAR", "b.tar.gz"), ("my b.tar.xz", "my b.tar.gz"), ("b.json", "b.tar.gz")],
)
def test_a_name_that_promises_another_format_is_refused_with_the_right_one(
    name: str, cure: str, tmp_path: Path
) -> None:
    run = bundle(tmp_path, "-o", tmp_path / name)
    assert run.code == 2
    assert f"a bundle is a gzipped tar, not {Path(name).suffix}" in run.err
    assert cure in run.err
    assert not list(tmp_path.glob("*b.*"))


@pytest.mark.parametrize("name", ["b", "b.TGZ", "b.gz", "b.tar.gz", "b.2026-12-01", ".hidden"])
def test_a_name_that_promises_nothing_else_is_taken(name: str, tmp_path: Path) -> None:
    assert bundle(tmp_path, "-o", tmp_path / name).code == 0
    with tarfile.open(tmp_path / name) as archive:
        assert SNAPSHOT in archive.getnames()


def test_the_name_is_made_up_where_none_is_given(tmp_path: Path) -> None:
    run = bundle(tmp_path)
    assert run.code == 0
    (made,) = (tmp_path / "home").glob("gpudoctor-bundle-*.tar.gz")
    assert f"Written: {made.name}" in run.out


def test_this_machine_can_be_packed(tmp_path: Path) -> None:
    run = gpudoctor("bundle", "--level", "quick", "--yes", "-o", "b.tgz", env=bare_environment(tmp_path))
    assert_clean(run)
    assert run.code == 0
    assert json.loads(members(tmp_path / "b.tgz")[SNAPSHOT])["schema_version"] == 1


def tar(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def header_only(entry: tarfile.TarInfo) -> bytes:
    """Return an archive whose one header promises what does not follow."""
    return gzip.compress(entry.tobuf() + b"{}" + b"\0" * 1022)


def entry(name: str = SNAPSHOT, *, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


def sparse() -> bytes:
    made = entry()
    made.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 50)}
    return tar((made, b"1\n0\n0\n" + b"\0" * 506))


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "climbs out": (lambda: tar((entry("../../etc/cron.d/x"), b"x")), "no gpudoctor-bundle/snapshot.json"),
    "names an absolute path": (lambda: tar((entry("/tmp/gpudoctor-was-here"), b"x")), "no gpudoctor-bundle"),
    "has a link for the snapshot": (
        lambda: tar((entry(kind=tarfile.SYMTYPE, link="/etc/passwd"), b"")),
        "no plain file",
    ),
    "has a hard link for the snapshot": (lambda: tar((entry(kind=tarfile.LNKTYPE, link="/etc/passwd"), b"")), "plain"),
    "has a device for the snapshot": (lambda: tar((entry(kind=tarfile.CHRTYPE), b"")), "no plain file"),
    "is a bomb": (lambda: gzip.compress(b"\0" * (130 << 20), 1), "damaged|no gpudoctor-bundle|unpacks to more"),
    "is a bomb in a tar": (lambda: tar((entry("a"), b"\0" * (130 << 20))), "unpacks to more than 128 MiB"),
    "holds a huge snapshot": (lambda: tar((entry(), b" " * (70 << 20))), "unpacks to more|larger"),
    "lies about the size": (lambda: header_only(entry(size=1 << 60)), "unpacks to more|damaged"),
    "is sparse": (sparse, "no plain file|damaged|unpacks"),
    "has many members": (lambda: tar(*((entry(f"{n}"), b"x") for n in range(100))), "more than 32 members"),
    "is cut off": (lambda: tar((entry(), b"{}" * 10_000))[:60], "damaged|no gpudoctor-bundle"),
    "is gzip of nothing": (lambda: gzip.compress(b""), "damaged|no gpudoctor-bundle"),
    "is a gzip header only": (lambda: b"\x1f\x8b", "damaged|no gpudoctor-bundle"),
    "is no tar": (lambda: gzip.compress(os.urandom(4096)), "damaged|no gpudoctor-bundle"),
    "holds no JSON": (lambda: tar((entry(), b"nope")), "not JSON"),
    "is nested without end": (lambda: tar((entry(), b"[" * 200_000)), "not JSON"),
    "steers the terminal": (lambda: tar((entry("\x1b[31mred\x1b]0;x\x07"), b"x")), "no gpudoctor-bundle"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_archive_that(what: str, tmp_path: Path) -> None:
    make, says = HOSTILE[what]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/bad.tgz").write_bytes(make())
    with at_most(20):
        run = gpudoctor("scan", "--snapshot", tmp_path / "in/bad.tgz", env=bare_environment(tmp_path / "home"))
    assert_clean(run)
    assert (run.code, run.out) == (2, "")
    assert re.search(says, run.err), run.err
    assert "\x1b" not in run.err
    assert [each.name for each in (tmp_path / "in").iterdir()] == ["bad.tgz"]
    assert list((tmp_path / "home").iterdir()) == []
    assert not Path("/tmp/gpudoctor-was-here").exists()
