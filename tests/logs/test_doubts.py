"""A stated number that no table knows is used, and who typed it is told so."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.cli.main import main
from gpudoctor.knowledge import tensorflow_releases
from gpudoctor.logs.doubts import doubts
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.stated import read_facts


@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("tf=9.9", "no such release is known, 2.22.0rc0 is the newest; judged as newer than that"),
        ("tf=tensorflow-gpu 1.17", "no such release is known; judged by its place among those that are"),
        ("tf=2.10.7", "no such patch is known (2.10.0, 2.10.1); judged as 2.10"),
        ("cuda=99.1", "13.5 is the newest CUDA known"),
        ("cudnn=42.1", "9.28 is the newest cuDNN known"),
        ("python=3.99", "3.14 is the newest Python with TensorFlow known"),
        ("driver=9999.1", "620 is the newest driver known"),
        ("gpu=RTX 9090", "RTX 9090 is not in the table of GPUs; its compute capability was taken as unknown"),
    ],
)
def test_what_no_table_knows_is_said_with_what_was_done(fact: str, says: str) -> None:
    told = list(doubts(read_facts([fact])))
    assert len(told) == 1
    assert says in told[0]
    assert fact.partition("=")[2] in told[0]


@pytest.mark.parametrize(
    "fact",
    ["tf=2.10", "tf=2.10.1", "tf=1.15.5", "tf=2.16.0rc0", "tf=unknown", "cuda=8.0", "cuda=12.5.1", "cudnn=9.28.0.42", "cudnn=6", "python=3.14.1",
     "driver=580.95.05", "driver=R620", "gpu=RTX 3090", "gpu=none", "gpu=unknown", "os=linux"],
)  # fmt: skip
def test_what_exists_is_no_doubt(fact: str) -> None:
    assert list(doubts(read_facts([fact]))) == []


@pytest.mark.parametrize("row", tensorflow_releases.RELEASES, ids=lambda row: row.version)
def test_every_release_of_the_table_is_known(row: tensorflow_releases.TfRelease) -> None:
    for version in (row.version, row.first, row.latest, *row.patches):
        assert list(doubts({"tf": version})) == [], version


def test_an_unknown_gpu_whose_capability_is_stated_is_no_doubt() -> None:
    assert list(doubts(read_facts(["gpu=RTX 9090", "compute_capability=14.0"]))) == []


def test_a_release_that_never_was_is_not_called_an_official_wheel() -> None:
    made = {version: snapshot_of((), {"tf": version}).tensorflow for version in ("9.9", "1.17", "2.16.1", "1.15.0")}
    assert {version: None if each is None else each.origin for version, each in made.items()} == {
        "9.9": "unknown",
        "1.17": "unknown",
        "2.16.1": "official_wheel",
        "1.15.0": "official_wheel",
    }


def test_the_command_says_it_beside_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "run.log"
    text.write_text("nothing\n", encoding="utf-8")
    assert main(["log", "--no-machine", "--fact", "tf=9.9", str(text)]) == 0
    printed = capsys.readouterr()
    assert "no such release is known" in printed.err
    assert "no such release" not in printed.out
