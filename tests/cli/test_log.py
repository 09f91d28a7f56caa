"""`gpudoctor log`: texts from files and stdin, stated facts, nothing recognised, and what decides."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.cli.main import main

UNKNOWN = "E cuda_driver.cc:1] failed call to cuInit: CUDA_ERROR_UNKNOWN\n"
DLOPEN = "W gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure\n"
NOISE = "W py_utils.cc:38] TF-TRT Warning: Could not find TensorRT\n"


def report_of(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main([*words, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, document


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    path.write_text(UNKNOWN, encoding="utf-8")
    return path


def test_a_text_is_told_its_cause_and_what_decides(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = report_of(capsys, "log", str(text), "--no-machine")

    assert code == 1
    assert report["findings"][0]["cause"] == "uvm-not-ready"
    assert "run this to know" in {each["label"] for each in report["findings"][0]["evidence"]}


def test_stdin_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(UNKNOWN.encode())))

    assert report_of(capsys, "log", "-")[1]["findings"][0]["cause"] == "uvm-not-ready"


def test_a_fact_changes_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.log"
    path.write_text(DLOPEN, encoding="utf-8")

    causes = [
        report_of(capsys, "log", str(path), "--fact", f"tf={version}")[1]["findings"][0]["cause"]
        for version in ("2.16.1", "2.17.1")
    ]

    assert causes == ["and-cuda-wheels", "missing-cuda-libs"]


def test_noise_is_told_as_noise_and_brings_no_fix_beside_a_trouble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.log"
    path.write_text(NOISE + DLOPEN, encoding="utf-8")

    _, report = report_of(capsys, "log", str(path), "--no-machine")

    noise = [each for each in report["findings"] if each["cause"] == "harmless-line"]
    assert [each["severity"] for each in noise] == ["info"]
    assert report["findings"][0]["cause"] == "missing-cuda-libs"
    assert "ignore-line" not in {each["id"] for each in report["fixes"]}


def test_nothing_recognised_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.log"
    path.write_text("hello\n", encoding="utf-8")

    code, report = report_of(capsys, "log", str(path), "--no-machine")

    assert (code, report["summary"]["status"]) == (0, "unknown")
    assert "recognised" in report["summary"]["headline"]


def test_an_unknown_key_is_a_usage_error(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", str(text), "--fact", "gpuu=1"]) == 2
    assert "did you mean 'gpu'" in capsys.readouterr().err


def test_scan_reads_a_text_with_a_snapshot(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine = Path(__file__).parents[2] / "fixtures" / "machines" / "laptop-without-gpu" / "snapshot.json"

    _, report = report_of(capsys, "scan", "--snapshot", str(machine), "--log", str(text))

    assert "uvm-not-ready" in {each["cause"] for each in report["findings"]}


def test_scan_without_a_machine_judges_text_and_facts_alone(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = report_of(capsys, "scan", "--no-machine", "--log", str(text), "--fact", "os=linux")

    assert (code, report["findings"][0]["cause"]) == (1, "uvm-not-ready")


def test_a_text_in_which_training_goes_on_leads_to_run_and_not_to_a_scan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "post.txt"
    text.write_text("Epoch 1/5\n1875/1875 [====] - 30s 16ms/step - loss: 0.5\nEpoch 2/5\n")
    main(["log", "--no-machine", str(text)])
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last.startswith("Next: `gpudoctor run -- python train.py`")
    text.write_text("it is slow, what can I do?\n")
    main(["log", "--no-machine", str(text)])
    assert "`gpudoctor scan`" in capsys.readouterr().out.strip().splitlines()[-1]
