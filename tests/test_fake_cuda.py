"""The fake libcuda answers as the variables tell, and the real TensorFlow meets it as it meets a faulty driver."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_nvml.figures import desktop_rtx3090, h100, v100
from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, Scenario, environment, wait_until_it_hangs

READER = Path(__file__).parent / "fake_cuda" / "reader.py"
LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
HEALTHY = FURTHER_SCENARIOS["healthy"]
# CUDA's own order is fastest first; on the bus the slowest of these three comes first.
MIXED = replace(HEALTHY, gpus=(h100(2), v100(1), desktop_rtx3090(0)))
GPU_BUILD = os.environ.get("GPUDOCTOR_TEST_TENSORFLOW_GPU")


def start(scenario: Scenario, tmp_path: Path, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(READER)],
        env={**environment(scenario, tmp_path), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read(scenario: Scenario, tmp_path: Path, **variables: str) -> dict[str, Any]:
    with start(scenario, tmp_path, **variables) as process:
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    answer: dict[str, Any] = json.loads(out)
    return answer


def buses(answer: dict[str, Any]) -> list[int]:
    return [device["bus"] for device in answer["devices"]]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0, "CUDA_SUCCESS"),
        (100, "CUDA_ERROR_NO_DEVICE"),
        (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        (804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
        (999, "CUDA_ERROR_UNKNOWN"),
    ],
)
def test_init_answers_the_code_told(code: int, name: str, tmp_path: Path) -> None:
    answer = read(replace(HEALTHY, cu_init=code), tmp_path)
    assert (answer["init"], answer["name"], answer["version"]) == (code, name, 13000)
    assert answer["count_before_init"] == 3
    assert len(answer["devices"]) == (0 if code else 1)


def test_eight_devices_say_who_they_are(tmp_path: Path) -> None:
    scenario = FURTHER_SCENARIOS["healthy_8"]
    for told, seen in zip(scenario.gpus, read(scenario, tmp_path)["devices"], strict=True):
        assert set(seen["codes"]) == {0}
        assert (seen["name"], seen["bytes"], seen["bus"]) == (told["name"], told["memory_total"], told["pci_bus"])
        assert seen["capability"] == [told["cc_major"], told["cc_minor"]]
        assert f"GPU-{seen['uuid']}" == f"GPU-{str(told['uuid'])[4:].replace('-', '')}"


def test_the_order_is_fastest_first_unless_the_bus_is_asked_for(tmp_path: Path) -> None:
    assert buses(read(MIXED, tmp_path / "a")) == [0x37, 0x27, 0x17]
    assert buses(read(MIXED, tmp_path / "b", CUDA_DEVICE_ORDER="PCI_BUS_ID")) == [0x17, 0x27, 0x37]


@pytest.mark.parametrize(
    ("visible", "seen"),
    [
        ("1", [0x27]),
        ("2,0", [0x17, 0x37]),
        ("0,7,1", [0x37]),
        ("0,-1,1", [0x37]),
        ("GPU-00000001", [0x27]),
        ("", []),
        ("-1", []),
        ("nonsense", []),
    ],
)
def test_visible_devices_filter_and_order(visible: str, seen: list[int], tmp_path: Path) -> None:
    answer = read(MIXED, tmp_path, CUDA_VISIBLE_DEVICES=visible)
    assert buses(answer) == seen
    assert answer["init"] == (0 if seen else 100)


def test_a_hung_init_ends_only_when_killed(tmp_path: Path) -> None:
    with start(FURTHER_SCENARIOS["hang_at_init"], tmp_path) as process:
        wait_until_it_hangs(process)
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.3)
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL


def test_a_crashing_init_kills_the_process(tmp_path: Path) -> None:
    with start(FURTHER_SCENARIOS["segfault_at_init"], tmp_path) as process:
        assert process.wait(timeout=30) == -signal.SIGSEGV


@pytest.mark.parametrize("name", sorted({**SCENARIOS, **FURTHER_SCENARIOS}))
def test_each_scenario_starts_cuda_as_told(name: str, tmp_path: Path) -> None:
    scenario = {**SCENARIOS, **FURTHER_SCENARIOS}[name]
    if isinstance(scenario.cu_init, str):
        pytest.skip("hangs or crashes: tested above")
    if scenario.machine.driver is None or "libcuda" not in scenario.machine.libraries:
        with start(scenario, tmp_path) as process:
            assert "libcuda.so.1: cannot open" in process.communicate(timeout=30)[1]
        return
    answer = read(scenario, tmp_path)
    assert answer["init"] == scenario.cu_init
    assert len(answer["devices"]) == (0 if scenario.cu_init else len(scenario.gpus))


def said(stderr: str) -> list[str]:
    """Return what TensorFlow says about the GPU, without times, places in its source and notes on the CPU."""
    lines = [re.sub(r"^.*?\w+\.cc:\d+\] ", "", line) for line in stderr.splitlines()]
    return [line for line in lines if re.search(r"cuInit|dlopen|compute capability", line)]


@pytest.mark.tensorflow
@pytest.mark.skipif(
    GPU_BUILD is None, reason="GPUDOCTOR_TEST_TENSORFLOW_GPU names no Python with TensorFlow 2.20 for GPUs"
)
@pytest.mark.parametrize("code", [34, 100, 803, 804, 999])
def test_tensorflow_says_what_its_recorded_log_says(code: int, tmp_path: Path) -> None:
    script = "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"
    shown = subprocess.run(
        [str(GPU_BUILD), "-c", script],
        env=environment(replace(HEALTHY, cu_init=code), tmp_path),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    recorded = (LOGS / f"tf-2.20-cuinit-{code}.log").read_text(encoding="utf-8")
    assert said(shown.stderr) == said(recorded) != []
    assert shown.stdout.strip() == "[]"
