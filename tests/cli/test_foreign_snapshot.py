"""A saved machine may be somebody else's: what names them is taken out on the way in, unless it is asked for."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.cli.main import main

NAMES = ("carolsecret", "hunter2", "1650422000123", "1234abcd-1111", "gpu-node-17")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    process: dict[str, Any] = {
        "pid": 99, "kind": "compute", "memory_bytes": 15 << 30, "own": False, "user": "carolsecret", "name": "python",
        "command": "python /home/carolsecret/train.py --token=hunter2",
    }  # fmt: skip
    gpu = {"index": 0, "status": "ok", "uuid": "GPU-1234abcd-1111-2222-3333-444455556666", "serial": "1650422000123"}
    path = tmp_path / "foreign.json"
    path.write_text(
        json.dumps(
            {
                "gpus": [{**gpu, "processes": [process], "memory": {"total_bytes": 16 << 30, "free_bytes": 1 << 29}}],
                "python": {"executable": "/data/carolsecret/venv/bin/python", "prefix": "/home/carolsecret/venv"},
                "env": {"LD_LIBRARY_PATH": "/data/carolsecret", "HOSTNAME": "gpu-node-17"},
            }
        )
    )
    return path


@pytest.mark.parametrize("form", [["--json"], ["-v"], ["--format", "markdown"]])
def test_a_scan_of_it_names_nobody(foreign: Path, form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "--snapshot", str(foreign), *form])
    shown = capsys.readouterr().out
    assert not [name for name in NAMES if name in shown.replace(str(foreign), "")]


def test_identifiers_are_shown_where_they_are_asked_for(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "--snapshot", str(foreign), "--json", "--include-identifiers"])
    shown = capsys.readouterr().out
    assert "hunter2" in shown
    assert "1650422000123" in shown


def test_an_archive_of_it_names_nobody_in_any_file(foreign: Path, tmp_path: Path) -> None:
    archive = tmp_path / "it.tar.gz"
    assert main(["bundle", "--snapshot", str(foreign), "--yes", "-o", str(archive)]) == 0
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            content = packed.extractfile(member)
            assert content is not None
            text = content.read().decode()
            assert not [name for name in NAMES if name in text], member.name
