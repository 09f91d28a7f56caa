"""A baseline at the command line: what is accepted passes, what has grown graver or sits on another GPU does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.cli.main import main


def saved(path: Path, **changes: Any) -> str:
    path.write_text(json.dumps({"schema_version": 1, **changes}))
    return str(path)


def boards(count: int) -> list[dict[str, object]]:
    return [{"index": index, "status": "ok"} for index in range(count)]


def missing(path: Path, count: int) -> str:
    bus = [{"address": f"0000:{index:02x}:00.0", "driver": "nvidia"} for index in range(8)]
    return saved(path, gpus=boards(8 - count), kernel={"pci_gpus": bus}, host={"container": "none"})


def xid(path: Path, code: int, pci: str) -> str:
    event = {"code": code, "pci": pci, "message": "pid=1", "count": 1}
    return saved(path, gpus=boards(8), kernel={"xids": [event], "log_readable": True})


def ecc(path: Path, errors: int, index: int = 0) -> str:
    gpus = boards(8)
    gpus[index]["ecc"] = {"enabled": True, "uncorrected": errors}
    return saved(path, gpus=gpus)


def visible(path: Path, value: str) -> str:
    return saved(path, gpus=boards(8), env={"CUDA_VISIBLE_DEVICES": value})


@pytest.mark.parametrize(
    ("make", "before", "now"),
    [
        (missing, (1,), (4,)),
        (xid, (48, "0000:18:00"), (79, "0000:18:00")),
        (xid, (48, "0000:18:00"), (48, "0000:1d:00")),
        (ecc, (1,), (60,)),
        (ecc, (1,), (1, 5)),
        (visible, ("0,1,9",), ("0,9",)),
    ],
)
def test_what_grew_graver_or_moved_is_not_accepted(tmp_path: Path, make: Any, before: Any, now: Any) -> None:
    old, new, known = make(tmp_path / "a.json", *before), make(tmp_path / "b.json", *now), str(tmp_path / "known")
    assert main(["scan", "--snapshot", old, "--fail-on", "warning"]) == 1
    main(["scan", "--snapshot", old, "--write-baseline", known])
    assert main(["scan", "--snapshot", old, "--baseline", known, "--fail-on", "warning"]) == 0
    assert main(["scan", "--snapshot", new, "--baseline", known, "--fail-on", "warning"]) == 1


def test_a_comparison_takes_what_grew_graver_for_new_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few, many = ecc(tmp_path / "a.json", 1), ecc(tmp_path / "b.json", 60)
    main(["compare", few, many])
    assert "1 new, 0 gone" in capsys.readouterr().out
    main(["compare", many, few])
    assert "0 new, 0 gone, 1 as before" in capsys.readouterr().out
