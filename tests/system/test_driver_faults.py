"""Each start-up fault of a driver, met by the real GPU build of TensorFlow: its own messages, its own refusal to use a GPU.

libcuda is a stand-in that answers cuInit as told; TensorFlow, its CUDA libraries and the training of the probe are real.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, Machine, Scenario, environment
from tests.system.command import Run, assert_clean, assert_readable, cause_of, gpudoctor, primary
from tests.system.environments import gpu_python

PROBE_LIMIT_S = 240.0
IDLE = FURTHER_SCENARIOS["idle"]  # nobody uses the GPU: the probe may
FAULTS: dict[str, tuple[Scenario, str]] = {
    "100, the module is not loaded": (SCENARIOS["init_driver_not_loaded"], "kernel-module-not-loaded"),
    "100, no permission": (FURTHER_SCENARIOS["init_no_permission"], "device-permission-mode"),
    "803": (SCENARIOS["init_version_mismatch"], "driver-library-mismatch"),
    "804": (FURTHER_SCENARIOS["compat_on_geforce"], "forward-compat"),
    "999, nvidia_uvm is not loaded": (FURTHER_SCENARIOS["uvm_missing"], "uvm-not-ready"),
    "999, a GPU fell off the bus": (SCENARIOS["handle_unknown"], "hardware-power-heat"),
    "libcuda is absent in a container": (
        replace(IDLE, machine=FURTHER_SCENARIOS["no_libcuda"].machine),
        "container-no-gpu",
    ),
    "libcuda and the driver are absent": (
        replace(IDLE, machine=Machine(driver=None, kernel_module=None, module_on_disk=False)),
        "kernel-module-not-loaded",
    ),
}
TRAINED = (
    "100, the module is not loaded",
    "803",
    "804",
    "999, nvidia_uvm is not loaded",
    "libcuda is absent in a container",
)


def scan(fault: str, folder: Path, *options: str) -> Run:
    scenario, _ = FAULTS[fault]
    env = environment(scenario, folder)
    return gpudoctor("scan", "--python", gpu_python(), *options, env=env, limit_s=PROBE_LIMIT_S)


@pytest.mark.tensorflow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_the_primary_cause_without_a_probe(fault: str, tmp_path: Path) -> None:
    run = scan(fault, tmp_path, "--level", "quick", "--json")
    assert_clean(run)
    assert cause_of(run.document) == FAULTS[fault][1], run.out
    assert (run.code, run.document["summary"]["status"]) == (1, "broken")


@pytest.mark.tensorflow
@pytest.mark.parametrize("fault", TRAINED)
def test_the_probe_trains_on_the_cpu_and_makes_the_same_cause_surer(fault: str, tmp_path: Path) -> None:
    quick = scan(fault, tmp_path / "quick", "--level", "quick", "--json").document
    run = scan(fault, tmp_path / "standard", "--json", "--select", "GD1,GD2,GD3,GD8")
    assert_clean(run)
    report = run.document
    assert cause_of(report) == FAULTS[fault][1]
    assert report["probe"]["trials"]["baseline"]["status"] == "ok"
    assert report["probe"]["trials"]["baseline"]["device"] == "CPU"
    before, after = primary(quick), primary(report)
    assert before is not None
    assert after is not None
    assert after["confidence"] > before["confidence"]
    told = {each["code"]: each.get("caused_by") for each in report["findings"]}
    assert all(told[code] == after["code"] for code in ("GD112", "GD301") if code in told), told


@pytest.mark.tensorflow
def test_the_whole_text_report_of_a_trained_scan_fits_the_screen(tmp_path: Path) -> None:
    run = scan("803", tmp_path)
    assert_clean(run)
    assert_readable(run)
    assert run.first_line_s < 1.0
