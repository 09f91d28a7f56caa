"""Faults of an installation, each built in a second as a stand-in, scanned by the real command on a healthy GPU.

`test_broken_libraries.py` does the same with the real wheels, where somebody has them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_nvml.figures import scenario_text, v100
from tests.fakes import FURTHER_SCENARIOS, Scenario, environment
from tests.system.command import Json, Run, assert_clean, assert_readable, cause_of, gpudoctor
from tests.system.target import LIBRARIES, Installation, StandIn, build, place_library

IDLE = FURTHER_SCENARIOS["idle"]
V100 = replace(
    IDLE, gpus=(v100(0),), text=scenario_text((v100(0),), ("gpu0.reasons=1",), driver="580.95.05", cuda=13000)
)
FAULTS: dict[str, tuple[Installation, str, str]] = {
    "cuDNN is not installed": (Installation(without=("nvidia-cudnn-cu12",)), "missing-cuda-libs", "pip install"),
    "a library that cuSOLVER needs is not installed": (
        Installation(without=("nvidia-nvjitlink-cu12",)),
        "missing-cuda-libs",
        "pip install",
    ),
    "the CUDA runtime is not installed": (
        Installation(without=("nvidia-cuda-runtime-cu12",)),
        "missing-cuda-libs",
        "pip install",
    ),
    "cuDNN is older than what TensorFlow was built with": (
        Installation(cudnn="9.1.0.70"),
        "cudnn-version",
        "pip install",
    ),
    "TensorFlow is a CPU build": (Installation(cpu_only=True), "cpu-build", "and-cuda"),
    "TensorFlow is not installed": (Installation(tensorflow=None), "tensorflow-absent", "pip install"),
}


def scan(
    installation: Installation | StandIn, folder: Path, *options: str, machine: Scenario = IDLE, **env: str
) -> Run:
    stand_in = build(folder / "venv", installation) if isinstance(installation, Installation) else installation
    variables = environment(machine, folder / "machine")
    variables |= env
    return gpudoctor("scan", "--level", "quick", *options, "--python", stand_in.python, env=variables)


def loud(report: Json) -> list[str]:
    return [each["cause"] for each in report["findings"] if each["severity"] != "info"]


def test_a_sound_installation_is_healthy(stand_in: StandIn, tmp_path: Path) -> None:
    report = scan(stand_in, tmp_path, "--json").document
    assert (report["summary"]["status"], loud(report)) == ("healthy", [])
    needed = [each for each in report["snapshot"]["libraries"] if each["needed"]]
    assert {each["origin"] for each in needed} == {"wheel"}
    assert {each["soname"]: each["version"] for each in needed}["libcudnn.so.9"] == "9.10.2"


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_the_primary_cause_and_a_command_mends_it(fault: str, tmp_path: Path) -> None:
    installation, cause, command = FAULTS[fault]
    run = scan(installation, tmp_path, "--json")
    assert_clean(run)
    report = run.document
    assert cause_of(report) == cause, loud(report)
    assert (run.code, report["summary"]["status"]) == (1, "broken")
    assert command in " ".join(each["text"] for each in report["fixes"][:2])
    assert report["fixes"][0]["gain"]["grade"] == "unblocks"


@pytest.mark.parametrize("fault", FAULTS)
def test_the_report_of_the_fault_fits_the_screen(fault: str, tmp_path: Path) -> None:
    run = scan(FAULTS[fault][0], tmp_path)
    assert_clean(run)
    assert_readable(run)


def test_a_cudnn_without_code_for_the_gpu_is_the_primary_cause(tmp_path: Path) -> None:
    report = scan(Installation(cudnn="9.28.0.42"), tmp_path, "--json", machine=V100).document
    assert cause_of(report) == "cudnn-dropped-gpu", loud(report)
    assert "nvidia-cudnn-cu12" in report["fixes"][0]["text"]


def test_a_v100_with_the_last_cudnn_that_knows_it_is_well(stand_in: StandIn, tmp_path: Path) -> None:
    report = scan(stand_in, tmp_path, "--json", machine=V100).document
    assert (report["summary"]["status"], loud(report)) == ("healthy", [])


def test_an_older_cudnn_first_on_the_library_path_shadows_the_right_one(stand_in: StandIn, tmp_path: Path) -> None:
    for soname in (name for name in LIBRARIES if name.startswith("libcudnn")):
        place_library(tmp_path / "old" / "lib", soname, cudnn="9.1.0.70")
    machine = environment(IDLE, tmp_path / "other")["LD_LIBRARY_PATH"]
    path = os.pathsep.join((str(tmp_path / "old" / "lib"), machine))
    report = scan(stand_in, tmp_path, "--json", LD_LIBRARY_PATH=path).document
    cudnn = next(each for each in report["snapshot"]["libraries"] if each["soname"] == "libcudnn.so.9")
    assert (cudnn["origin"], cudnn["version"], len(cudnn["shadows"])) == ("ld_library_path", "9.1.0", 1)
    assert cause_of(report) == "cudnn-version", loud(report)
    assert "LD_LIBRARY_PATH" in report["fixes"][0]["text"]


@pytest.mark.parametrize("value", ["-1", "", "7", "GPU-deadbeef"])
def test_a_variable_that_hides_the_gpu_is_the_primary_cause(value: str, stand_in: StandIn, tmp_path: Path) -> None:
    report = scan(stand_in, tmp_path, "--json", CUDA_VISIBLE_DEVICES=value).document
    assert cause_of(report) == "cuda-visible-devices", loud(report)
    assert report["fixes"][0]["text"] == "unset CUDA_VISIBLE_DEVICES"
