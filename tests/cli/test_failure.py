"""The document of a run that failed goes where its report would have gone, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpudoctor.cli import failure

WHERE = ("scan", "--format", "junit", "-o", "{folder}/a.xml", "--format=jsonl", "-o{folder}/b.jsonl", "--json")


def written(folder: Path, *words: str) -> list[str]:
    failure.write([word.format(folder=folder) for word in words], "it broke", 2)
    return sorted(each.name for each in folder.iterdir())


def test_each_format_for_machines_gets_its_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert written(tmp_path, *WHERE) == ["a.xml", "b.jsonl"]
    assert 'message="it broke"' in (tmp_path / "a.xml").read_text(encoding="utf-8")
    assert json.loads(capsys.readouterr().out)["summary"]["headline"] == "it broke"


def test_text_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert written(tmp_path, "scan", "--format", "text", "-o", "{folder}/a.txt") == []
    assert capsys.readouterr().out == ""


def test_json_is_on_stdout_however_wrong_the_words_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert written(tmp_path, "scan", "-o", "a", "-o", "b", "--json", "--jsn") == []
    assert json.loads(capsys.readouterr().out)["tool"]["exit_code"] == "2"


def test_the_words_of_a_script_are_not_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert written(tmp_path, "run", "--", "train.py", "--format", "json", "-o", "{folder}/model.json") == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", ["explain", "checks", "bundle"])
def test_an_output_that_is_no_report_is_left_alone(command: str, tmp_path: Path) -> None:
    assert written(tmp_path, command, "-o", "{folder}/b.tgz", "--json") == []
