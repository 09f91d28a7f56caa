"""`gpudoctor log` on a post that asks why training is slow, and on one that holds noise only: no claim, and no empty advice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.cli.main import main

NOISE = """\
I port.cc:113] oneDNN custom operations are on. You may see slightly different numerical results
E cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered
W py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
"""
SLOW = "My training is very slow and GPU utilization is only 3%.\n120/120 [=====] - 600s 5s/step - loss: 0.41\n"
CUINIT = "E cuda_driver.cc:1] failed call to cuInit: CUDA_ERROR_UNKNOWN\n"


def shown(capsys: pytest.CaptureFixture[str], folder: Path, text: str, *words: str) -> str:
    path = folder / "post.txt"
    path.write_text(text, encoding="utf-8")
    main(["log", str(path), "--no-machine", "--fail-on", "never", *words])
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], folder: Path, text: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(shown(capsys, folder, text, "--json"))
    return told


def test_a_slow_training_gets_its_suspects_and_the_command_that_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = document(capsys, tmp_path, SLOW)

    assert [each["cause"] for each in report["findings"]] == ["input-pipeline"]
    assert [each["text"] for each in report["fixes"]] == ["gpudoctor run -- python train.py"]
    assert report["findings"][0]["confidence"] < 0.5


def test_a_complaint_alone_is_a_note_that_stands_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, tmp_path, "Why is training so slow?\n10/10 - 50s 5s/step\n")

    assert "NOTE  GD653" in text
    assert "gpudoctor run -- python train.py" in text


def test_beside_a_trouble_that_the_text_shows_nothing_is_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = document(capsys, tmp_path, SLOW + CUINIT)

    assert "GD653" not in {each["code"] for each in report["findings"]}
    assert report["findings"][0]["cause"] == "uvm-not-ready"


@pytest.mark.parametrize("text", ["My training is slow.\n", "5s/step\n", "hello\n"])
def test_a_text_without_words_and_figures_is_not_recognised(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Nothing in this text is recognised" in shown(capsys, tmp_path, text)


@pytest.mark.parametrize("more", ["", CUINIT])
def test_all_noise_is_one_line_with_its_number_and_the_first_of_it(
    more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [each for each in shown(capsys, tmp_path, NOISE + more).splitlines() if "GD354" in each]

    assert len(lines) == 1
    assert "3 kinds of lines are no trouble (-v): line 1, oneDNN" in lines[0]


def test_verbose_shows_each_kind_of_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, tmp_path, NOISE, "-v")

    assert text.count("Not your problem") == 3


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_that_nothing_has_to_be_done_is_no_fix(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, tmp_path, NOISE, "--format", form)

    assert "Nothing has to be changed" not in text
    assert "IDEAS" not in text
    assert "Ignore these lines" not in text
