"""The fake NVML answers the real pynvml as each scenario tells, so that tests of gpudoctor rest on known ground."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fake_nvml.figures import KINDS, Figures
from tests.fakes import (
    FURTHER_SCENARIOS,
    SCENARIOS,
    VARIANTS,
    Scenario,
    environment,
    nvml_library,
    wait_until_it_hangs,
)

ALL = {**SCENARIOS, **FURTHER_SCENARIOS}
READER = Path(__file__).parent / "fake_nvml" / "reader.py"
ANSWERED_IN_GROUPS = {"encoder", "decoder", "jpeg", "ofa", "gpm", "cpu_affinity", "ecc_default", "topology"}
FUNCTION_NOT_FOUND = {"error": 13}
BOTH_GPUS_HEALTHY = ("memory_v1", "utilization", "temperature_v", "reasons", "name", "pcie_width", "power_mw")


def start(scenario: Scenario, tmp_path: Path, *names: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(READER), *names],
        env=environment(scenario, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read(scenario: Scenario, tmp_path: Path, *names: str) -> dict[str, Any]:
    with start(scenario, tmp_path, *names) as process:
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    answer: dict[str, Any] = json.loads(out)
    return answer


def gpus(scenario: str, tmp_path: Path, *names: str) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = read(ALL[scenario], tmp_path, *names)["gpus"]
    return answer


def numbers(figures: Mapping[str, int | str]) -> dict[str, int]:
    return {name: value for name, value in figures.items() if isinstance(value, int) and name not in KINDS}


def pids(processes: list[dict[str, Any]]) -> list[int]:
    return [process["pid"] for process in processes]


def test_the_matrix_has_its_21_rows() -> None:
    assert len(SCENARIOS) == 21
    assert all(scenario.true_reason for scenario in ALL.values())
    assert not any(scenario.healthy for scenario in SCENARIOS.values())


def test_no_two_figures_of_a_gpu_are_equal_unless_they_name_a_kind() -> None:
    gpu = FURTHER_SCENARIOS["healthy"].gpus[0]
    equal_on_a_healthy_link = {"pcie_gen", "pcie_width"}
    figures = [value for name, value in numbers(gpu).items() if value and name not in equal_on_a_healthy_link]
    assert len(figures) > 50
    assert sorted(figures) == sorted(set(figures))


def test_no_two_gpus_share_a_measured_figure() -> None:
    measured = ("memory_used", "util_gpu", "power_mw", "temperature_c", "clock_sm", "fan_percent", "uuid", "pci_bus")
    for name in measured:
        values = [gpu[name] for gpu in FURTHER_SCENARIOS["healthy_16"].gpus]
        assert len(set(values)) == 16, name


def test_every_figure_arrives_in_its_own_place_for_each_of_eight_gpus(tmp_path: Path) -> None:
    scenario = FURTHER_SCENARIOS["healthy_8"]
    answer = read(scenario, tmp_path)
    assert (answer["driver"], answer["cuda"], answer["count"]) == ("580.95.05", 13000, 8)
    for told, seen in zip(scenario.gpus, answer["gpus"], strict=True):
        same = set(told) & set(seen) - ANSWERED_IN_GROUPS
        assert len(same) > 60
        assert {name: seen[name] for name in same} == {name: told[name] for name in same}
        assert_grouped_answers(told, seen)


def assert_grouped_answers(told: Figures, seen: dict[str, Any]) -> None:
    used, reserved = int(told["memory_used"]), int(told["memory_reserved"])
    free = int(told["memory_total"]) - used - reserved
    assert seen["capability"] == [told["cc_major"], told["cc_minor"]]
    assert seen["utilization"] == {"gpu": told["util_gpu"], "memory": told["util_memory"]}
    assert seen["power_limits"] == [told["power_min_mw"], told["power_max_mw"]]
    assert seen["temperature_v"] == told["temperature_c"]
    assert seen["reasons_old"] == told["reasons"]
    for engine in ("encoder", "decoder", "jpeg", "ofa"):
        assert seen[engine] == [told[engine], told["sample_period_us"]]
    assert {key: seen["memory_v2"][key] for key in ("reserved", "free", "used")} == {
        "reserved": reserved,
        "free": free,
        "used": used,
    }
    # The first version of the record counts what the driver reserves as used.
    assert (seen["memory_v1"]["used"], seen["memory_v1"]["free"]) == (used + reserved, free)
    assert seen["pci"]["busId"] == f"00000000:{told['pci_bus']:02X}:00.0"
    assert [value["value"]["uiVal"] for value in seen["fields"][:2]] == [
        65 + int(told["index"]),
        500_111 + 1013 * int(told["index"]),
    ]
    assert seen["fields"][2]["nvmlReturn"] == 3
    assert (seen["nvlink_first"], seen["nvlink_last"]) == (1, 0)


def test_base_is_a_sick_gpu_beside_a_healthy_one(tmp_path: Path) -> None:
    sick, well = gpus("base", tmp_path)
    assert (sick["temperature_c"], sick["reasons"], sick["clock_sm"], sick["max_sm"]) == (91, 0x48, 1200, 1980)
    assert (sick["power_mw"], sick["power_enforced_mw"]) == (690_000, 700_000)
    assert (sick["pcie_width"], sick["pcie_width_max"], sick["utilization"]["gpu"]) == (8, 16, 97)
    assert (well["temperature_c"], well["reasons"], well["pcie_width"]) == (43, 0, 16)
    assert pids(sick["compute_v3"]) == pids(sick["compute_v2"]) == [os.getpid()]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("init_version_mismatch", 18),
        ("init_driver_not_loaded", 9),
        ("init_unknown", 999),
        ("init_no_permission", 4),
        ("init_library_not_found", 12),
        ("no_nvml", 12),
    ],
)
def test_init_fails_with_the_code_told(name: str, code: int, tmp_path: Path) -> None:
    assert read(ALL[name], tmp_path)["init"] == code


@pytest.mark.parametrize(("name", "code"), [("handle_lost", 15), ("handle_unknown", 999)])
def test_one_gpu_without_a_handle_leaves_the_other_readable(name: str, code: int, tmp_path: Path) -> None:
    lost, well = gpus(name, tmp_path, *BOTH_GPUS_HEALTHY)
    assert lost == {"handle": {"error": code}}
    assert well["temperature_v"] == 43


@pytest.mark.parametrize(("name", "code"), [("lost_after_handle", 15), ("reset_required", 16)])
def test_a_lost_gpu_keeps_its_handle_and_answers_nothing_more(name: str, code: int, tmp_path: Path) -> None:
    lost, well = gpus(name, tmp_path, *BOTH_GPUS_HEALTHY)
    assert lost == {name: {"error": code} for name in BOTH_GPUS_HEALTHY}
    assert well["temperature_v"] == 43


@pytest.mark.parametrize(("name", "code"), [("all_not_supported", 3), ("all_no_permission", 4)])
def test_every_field_of_every_gpu_is_refused(name: str, code: int, tmp_path: Path) -> None:
    for gpu in gpus(name, tmp_path):
        answers = {key: value for key, value in gpu.items() if key not in ("index", "migs")}
        assert set(map(str, answers.values())) == {str({"error": code})}


def test_each_call_can_fail_with_a_code_of_its_own(tmp_path: Path) -> None:
    source = (Path(__file__).parent / "fake_nvml" / "nvml.c").read_text(encoding="utf-8")
    table = source[source.index("#define CALLS(C)") : source.index("#define AS_FIELD")]
    calls = [word[: word.index(")")] for word in table.split(" C(")[1:]]
    told = {
        call: 100 + place for place, call in enumerate(calls) if call not in ("handle", "init", "count", "shutdown")
    }
    scenario = SCENARIOS["base"].with_lines(*(f"gpu0.rc.{call}={code}" for call, code in told.items()))
    refused = read(scenario, tmp_path)["gpus"][0]
    assert all("error" in answer for name, answer in refused.items() if name != "migs"), refused
    assert refused["power_mw"]["error"] == told["power"]
    assert refused["compute_v3"]["error"] == told["compute_processes"]
    assert refused["memory_v1"] == refused["memory_v2"] == {"error": told["memory"]}


def test_the_old_driver_has_only_the_first_versions_of_its_calls(tmp_path: Path) -> None:
    answer = read(SCENARIOS["old_driver"], tmp_path)
    gpu = answer["gpus"][0]
    newer = ("reasons", "temperature_v", "memory_v2", "compute_v2", "cores", "irq", "pcie_gpu_gen_max")
    assert {name: gpu[name] for name in newer} == dict.fromkeys(newer, FUNCTION_NOT_FOUND)
    assert (answer["driver"], gpu["temperature_c"], gpu["reasons_old"]) == ("450.248.02", 91, 0x48)
    assert gpu["memory_v1"]["total"] == 16160 << 20
    # Not an NVML error: the bindings refuse the process list in words of their own.
    assert gpu["compute_v3"] == gpu["graphics_v3"] == {"mismatch": True}


def test_the_names_that_cuda_14_drops_are_gone(tmp_path: Path) -> None:
    gpu = gpus("throttle_names_gone", tmp_path)[0]
    gone = ("reasons_old", "reasons_supported_old", "temperature_c", "app_graphics", "violation_power")
    assert {name: gpu[name] for name in gone} == dict.fromkeys(gone, FUNCTION_NOT_FOUND)
    assert (gpu["reasons"], gpu["temperature_v"]) == (0x48, 91)


@pytest.mark.parametrize(
    ("variant", "call", "words_a_record"),
    [
        ("old_symbols", "nvmlDeviceGetComputeRunningProcesses", 4),
        ("full", "nvmlDeviceGetComputeRunningProcesses", 4),
        ("full", "nvmlDeviceGetComputeRunningProcesses_v2", 6),
        ("full", "nvmlDeviceGetComputeRunningProcesses_v3", 6),
        ("wide_process_v3", "nvmlDeviceGetComputeRunningProcesses_v3", 8),
    ],
)
def test_process_records_have_the_size_of_their_version(
    variant: str, call: str, words_a_record: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ("gpu0.process=111,222", "gpu0.process=333,444")
    text = SCENARIOS["base"].with_lines(*lines).text.replace("gpu0.process=job", "#")
    (tmp_path / "scenario.txt").write_text(text, encoding="utf-8")
    monkeypatch.setenv("FAKE_NVML_SCENARIO", str(tmp_path / "scenario.txt"))
    library = ctypes.CDLL(str(nvml_library(variant) / "libnvidia-ml.so.1"))
    handle, count = ctypes.c_void_p(), ctypes.c_uint(9)
    words = (ctypes.c_uint * 90)()
    assert library.nvmlInit_v2() == 0
    assert library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
    assert library[call](handle, ctypes.byref(count), words) == 0
    library.nvmlShutdown()
    assert (count.value, words[0], words[2]) == (2, 111, 222)
    assert (words[words_a_record], words[words_a_record + 2]) == (333, 444)


def test_memory_may_be_unsupported_or_zero(tmp_path: Path) -> None:
    for name in ("memory_v1", "memory_v2"):
        assert gpus("memory_not_supported", tmp_path / "a" / name, name)[0][name] == {"error": 3}
        assert gpus("memory_total_zero", tmp_path / "b" / name, name)[0][name]["total"] == 0


def test_utilization_alone_may_be_unsupported(tmp_path: Path) -> None:
    gpu = gpus("utilization_not_supported", tmp_path, *BOTH_GPUS_HEALTHY)[0]
    assert gpu["utilization"] == {"error": 3}
    assert gpu["temperature_v"] == 91


def test_process_memory_may_be_unknown(tmp_path: Path) -> None:
    gpu = gpus("process_memory_unknown", tmp_path)[1]
    assert (gpu["compute_v3"][0]["usedGpuMemory"], gpu["graphics_v3"][0]["usedGpuMemory"]) == (None, None)


def test_the_ghost_process_does_not_exist(tmp_path: Path) -> None:
    (pid,) = pids(gpus("ghost_process", tmp_path)[1]["compute_v3"])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_mig_without_instances_has_mode_and_no_device(tmp_path: Path) -> None:
    (gpu,) = gpus("mig_without_instances", tmp_path)
    assert (gpu["mig_mode"], gpu["mig_max"], gpu["migs"]) == ([1, 1], 7, [])


def test_mig_instances_are_devices_of_their_own(tmp_path: Path) -> None:
    (gpu,) = gpus("mig_instances", tmp_path)
    first, second = gpu["migs"]
    assert (first["is_mig"], first["parent"], first["gpu_instance"], second["gpu_instance"]) == (1, 0, 7, 8)
    assert first["uuid"].startswith("MIG-")
    assert second["memory_v1"]["total"] - first["memory_v1"]["total"] == 1 << 20
    assert second["compute_v3"][0]["gpuInstanceId"] == 8


def test_a_name_may_not_be_utf8(tmp_path: Path) -> None:
    assert gpus("name_not_utf8", tmp_path)[0]["name"] == {"not_utf8": "NVIDIA H100 \\xff\\xfe 80GB"}


def test_init_may_succeed_without_a_gpu(tmp_path: Path) -> None:
    answer = read(SCENARIOS["zero_gpus"], tmp_path)
    assert (answer["init"], answer["count"], answer["gpus"]) == (0, 0, [])


@pytest.mark.parametrize("name", ["hang", "hang_at_init"])
def test_a_hung_call_ends_only_when_killed(name: str, tmp_path: Path) -> None:
    with start(ALL[name], tmp_path) as process:
        wait_until_it_hangs(process)
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.3)
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL


@pytest.mark.parametrize("name", ["segfault", "segfault_at_init"])
def test_a_crashing_call_kills_the_process(name: str, tmp_path: Path) -> None:
    with start(ALL[name], tmp_path) as process:
        assert process.wait(timeout=30) == -signal.SIGSEGV


def test_a_gpu_may_be_lost_in_mid_session(tmp_path: Path) -> None:
    gpu = gpus("falls_off_later", tmp_path)[0]
    assert gpu["name"] == "NVIDIA H100 80GB HBM3"
    assert gpu["persistence"] == {"error": 15}


def test_a_wave_moves_the_figures_within_their_limits(tmp_path: Path) -> None:
    still = FURTHER_SCENARIOS["healthy_8"].gpus
    moving = gpus("wave_8", tmp_path, "power_mw", "utilization", "power_limit_mw")
    assert [gpu["power_mw"] for gpu in moving] != [gpu["power_mw"] for gpu in still]
    assert all(0 <= gpu["utilization"]["gpu"] <= 100 for gpu in moving)
    assert {gpu["power_limit_mw"] for gpu in moving} == {700_001}


def test_pcie_throughput_blocks_as_in_nvml(tmp_path: Path) -> None:
    calls = 2 * 8  # sent and received, for eight GPUs
    begin = time.monotonic()
    read(FURTHER_SCENARIOS["healthy_8"], tmp_path, "pcie_tx_kbps", "pcie_rx_kbps")
    assert time.monotonic() - begin >= calls * 0.020


def test_calls_are_logged(tmp_path: Path) -> None:
    read(SCENARIOS["base"], tmp_path, "power_mw")
    calls = (tmp_path / "nvml-calls.log").read_text(encoding="utf-8").splitlines()
    assert calls[0] == "init -1"
    assert ("power 0" in calls, "power 1" in calls, "temperature 0" in calls) == (True, True, False)


def test_a_misspelt_key_is_refused_and_named(tmp_path: Path) -> None:
    with start(SCENARIOS["base"].with_lines("gpu0.temprature_c=3"), tmp_path) as process:
        out, err = process.communicate(timeout=30)
    assert json.loads(out)["init"] == 2
    assert "gpu0.temprature_c" in err


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_is_built_once_and_outside_the_tree(variant: str) -> None:
    folder = nvml_library(variant)
    assert folder == nvml_library(variant)
    assert Path(__file__).parents[1] not in folder.parents


def test_without_gcc_a_test_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match="need gcc"):
        nvml_library()


@pytest.mark.parametrize("name", ["base", "old_driver", "throttle_names_gone", "wide_process_records", "healthy_8"])
def test_nvitop_runs_on_the_fake(name: str, tmp_path: Path) -> None:
    nvitop = shutil.which("nvitop", path=str(Path(sys.executable).parent))
    if nvitop is None:
        pytest.skip("nvitop is not installed beside this Python")
    scenario = ALL[name]
    shown = subprocess.run(
        [nvitop, "-1"], env=environment(scenario, tmp_path), capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stderr == ""
    for gpu in scenario.gpus:
        assert f"{gpu['fan_percent']}%" in shown.stdout
        assert f"{gpu['util_gpu']}%" in shown.stdout
    assert str(os.getpid()) in shown.stdout
