"""NVML read through the real bindings, over every machine that the fake library plays."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from gpudoctor.model.gpu import Clocks, Ecc, Gpu, GpuProcess, Memory, Pcie, Power, Utilization
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.words import HolderKind
from tests.collect.asking import ALL, ask_nvml, named
from tests.fake_nvml.figures import Figures
from tests.fakes import SCENARIOS

# What the snapshot must say of each machine: NVML's status, and each GPU's.
STATUS: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "base": ("ok", ("ok", "ok")),
    "old_driver": ("ok", ("ok", "ok")),
    "throttle_names_gone": ("ok", ("ok", "ok")),
    "init_version_mismatch": ("version_mismatch", None),
    "init_driver_not_loaded": ("driver_not_loaded", None),
    "init_unknown": ("unknown_error", None),
    "handle_lost": ("ok", ("gpu_lost", "ok")),
    "handle_unknown": ("ok", ("unknown_error", "ok")),
    "lost_after_handle": ("ok", ("gpu_lost", "ok")),
    "reset_required": ("ok", ("reset_required", "ok")),
    "all_not_supported": ("ok", ("not_supported", "not_supported")),
    "all_no_permission": ("ok", ("no_permission", "no_permission")),
    "memory_not_supported": ("ok", ("ok", "ok")),
    "memory_total_zero": ("ok", ("ok", "ok")),
    "utilization_not_supported": ("ok", ("ok", "ok")),
    "process_memory_unknown": ("ok", ("ok", "ok")),
    "ghost_process": ("ok", ("ok", "ok")),
    "mig_without_instances": ("ok", ("ok",)),
    "name_not_utf8": ("ok", ("ok", "ok")),
    "zero_gpus": ("ok", ()),
    "hang": ("timeout", ("timeout", "not_read")),
    "healthy": ("ok", ("ok",)),
    "healthy_8": ("ok", ("ok",) * 8),
    "healthy_16": ("ok", ("ok",) * 16),
    "idle": ("ok", ("ok",)),
    "desktop": ("ok", ("ok",)),
    "operator_clocks": ("ok", ("ok",)),
    "wave_8": ("ok", ("ok",) * 8),
    "mig_instances": ("ok", ("ok",)),
    "init_no_permission": ("no_permission", None),
    "init_library_not_found": ("library_not_found", None),
    "hang_at_init": ("timeout", None),
    "segfault_at_init": ("crashed", None),
    "segfault": ("crashed", ("crashed",)),
    "falls_off_later": ("ok", ("ok", "ok")),  # later than one scan asks
    "wide_process_records": ("ok", ("ok", "ok")),
    "no_nvml": ("library_not_found", None),
    "no_libcuda": ("ok", ("ok",)),
    "compat_on_geforce": ("ok", ("ok",)),
    "uvm_missing": ("ok", ("ok",)),
}


def test_the_matrix_has_its_21_rows_and_each_is_expected_here() -> None:
    assert len(SCENARIOS) == 21
    assert set(SCENARIOS) <= set(STATUS)


@pytest.mark.parametrize("name", list(ALL))
def test_each_machine_gets_its_status_word(name: str, tmp_path: Path) -> None:
    nvml, gpus = ask_nvml(name, tmp_path)
    status, devices = STATUS[name]
    assert nvml.status == status
    assert nvml.message == Missing("none") or status != "ok"
    assert devices == (None if isinstance(gpus, Missing) else tuple(gpu.status for gpu in gpus))


def _gpus(name: str, tmp_path: Path) -> tuple[Gpu, ...]:
    _, gpus = ask_nvml(name, tmp_path)
    assert not isinstance(gpus, Missing)
    return gpus


def _truth(figures: Figures, index: int, processes: tuple[GpuProcess, ...]) -> Gpu:
    number = {key: value for key, value in figures.items() if isinstance(value, int)}
    return Gpu(
        index=index,
        name=str(figures["name"]),
        uuid=str(figures["uuid"]),
        serial=str(figures["serial"]),
        pci=f"0000:{number['pci_bus']:02x}:00.0",
        compute_capability=f"{number['cc_major']}.{number['cc_minor']}",
        memory=Memory(
            total_bytes=number["memory_total"],
            used_bytes=number["memory_used"],
            free_bytes=number["memory_total"] - number["memory_used"] - number["memory_reserved"],
            reserved_bytes=number["memory_reserved"],
        ),
        utilization=Utilization(gpu_percent=number["util_gpu"], memory_percent=number["util_memory"]),
        power=Power(
            draw_w=number["power_mw"] / 1000,
            limit_w=number["power_enforced_mw"] / 1000,
            default_limit_w=number["power_default_mw"] / 1000,
            max_limit_w=number["power_max_mw"] / 1000,
        ),
        temperature_c=number["temperature_c"],
        temperature_slowdown_c=number["slowdown_c"],
        fan_percent=number["fan_percent"],
        performance_state=number["pstate"],
        clocks=Clocks(
            sm_mhz=number["clock_sm"],
            sm_max_mhz=number["max_sm"],
            memory_mhz=number["clock_memory"],
            memory_max_mhz=number["max_memory"],
        ),
        throttle_reasons=("HwSlowdown", "HwThermalSlowdown") if number["reasons"] else (),
        pcie=Pcie(
            gen=number["pcie_gen"],
            gen_max=number["pcie_gen_max"],
            width=number["pcie_width"],
            width_max=number["pcie_width_max"],
        ),
        ecc=Ecc(
            enabled=bool(number["ecc_current"]),
            corrected=number["ecc_corrected_volatile"],
            uncorrected=number["ecc_uncorrected_volatile"],
            retired_pages=Missing("not_supported"),
            remapped_rows=number["remap_corrected"] + number["remap_uncorrected"],
            remap_pending=bool(number["remap_pending"]),
            remap_failed=bool(number["remap_failed"]),
        ),
        mig_mode="disabled",
        mig_instances=0,
        compute_mode="default",
        persistence=bool(number["persistence"]),
        display_active=bool(number["display_active"]),
        processes=processes,
    )


def _unseen(pid: int, kind: HolderKind, memory_bytes: int | Missing) -> GpuProcess:
    no = Missing("no such process to be seen from here")
    return GpuProcess(pid=pid, kind=kind, memory_bytes=memory_bytes, name=no, user=no, command=no, own=no, notebook=no)


JOB_BYTES = 31_000_000_001


@pytest.mark.parametrize("name", ["base", "throttle_names_gone", "wide_process_records", "healthy_8", "healthy_16"])
def test_every_figure_stands_in_its_own_field(name: str, tmp_path: Path) -> None:
    job = (_unseen(os.getpid(), "compute", JOB_BYTES),)
    expected = tuple(_truth(each, place, () if place else job) for place, each in enumerate(named(name).gpus))
    assert _gpus(name, tmp_path) == expected


def test_the_driver_and_its_versions(tmp_path: Path) -> None:
    nvml, _ = ask_nvml("base", tmp_path)
    assert nvml == Nvml(
        status="ok",
        message=Missing("none"),
        driver_version="580.95.05",
        cuda_driver_version="13.0",
        library_version="13.580.95.05",
        library_path=str(tmp_path / "root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05"),
        device_count=2,
    )


def test_an_old_driver_answers_by_its_old_names(tmp_path: Path) -> None:
    gpu = _gpus("old_driver", tmp_path)[0]
    figures = named("old_driver").gpus[0]
    used, reserved = int(figures["memory_used"]), int(figures["memory_reserved"])
    assert gpu.memory.used_bytes == used + reserved  # version 1 counts both, and says so by a missing `reserved`
    assert gpu.memory.reserved_bytes == Missing("function_not_found")
    assert gpu.temperature_c == 91
    assert gpu.throttle_reasons == ("HwSlowdown", "HwThermalSlowdown")
    assert gpu.processes == (_unseen(os.getpid(), "compute", 9_000_000_001),)


def test_a_failed_start_keeps_what_the_files_tell(tmp_path: Path) -> None:
    nvml, gpus = ask_nvml("init_version_mismatch", tmp_path)
    assert nvml.library_version == "580.95.05"
    assert nvml.message == "nvmlInit returned 18: RM has detected an NVML/RM version mismatch."
    assert gpus == Missing("NVML: version_mismatch")


def test_a_lost_gpu_is_not_asked_again_and_the_others_are_read(tmp_path: Path) -> None:
    lost, well = _gpus("lost_after_handle", tmp_path)
    assert {value.reason for value in _leaves(lost) if isinstance(value, Missing)} == {"gpu_lost"}
    assert well == _truth(named("lost_after_handle").gpus[1], 1, ())
    calls = (tmp_path / "nvml-calls.log").read_text(encoding="utf-8").splitlines()
    assert [call for call in calls if call.endswith(" 0")] == ["handle 0", "capability 0"]


def test_a_gpu_lost_in_mid_session_keeps_what_it_said_before(tmp_path: Path) -> None:
    _, gpus = ask_nvml(named("falls_off_later").with_lines("gpu0.fail_after=20,15"), tmp_path)
    assert not isinstance(gpus, Missing)
    assert gpus[0].status == "gpu_lost"
    assert gpus[0].name == named("falls_off_later").gpus[0]["name"]
    assert gpus[0].temperature_c == 91
    assert gpus[0].processes == Missing("gpu_lost")


def _leaves(value: object) -> list[object]:
    if is_dataclass(value) and not isinstance(value, Missing):
        return [leaf for each in fields(value) for leaf in _leaves(getattr(value, each.name))]
    return [value]


@pytest.mark.parametrize(
    ("name", "word"), [("all_not_supported", "not_supported"), ("all_no_permission", "no_permission")]
)
def test_where_nothing_is_answered_no_field_has_a_value(name: str, word: str, tmp_path: Path) -> None:
    for gpu in _gpus(name, tmp_path):
        values = _leaves(gpu)[2:]  # after index and status
        assert {value.reason for value in values if isinstance(value, Missing)} == {word}
        assert all(isinstance(value, Missing) for value in values)


@pytest.mark.parametrize("name", ["memory_not_supported", "memory_total_zero"])
def test_unified_memory_is_missing_never_zero(name: str, tmp_path: Path) -> None:
    for gpu in _gpus(name, tmp_path):
        assert all(isinstance(value, Missing) and "not_supported" in value.reason for value in _leaves(gpu.memory))
        assert gpu.temperature_c in {91, 43}


def test_a_utilisation_that_is_not_supported_leaves_the_rest(tmp_path: Path) -> None:
    gpu = _gpus("utilization_not_supported", tmp_path)[0]
    assert set(_leaves(gpu.utilization)) == {Missing("not_supported")}
    assert gpu.clocks.sm_mhz == 1200


def test_process_memory_that_is_not_available(tmp_path: Path) -> None:
    pid = os.getpid()
    first, second = _gpus("process_memory_unknown", tmp_path)
    assert first.processes == (_unseen(pid, "compute", JOB_BYTES),)
    assert second.processes == (_unseen(pid, "compute", Missing("not_available")),)  # it draws too, and is listed once


def test_a_ghost_process_has_memory_and_no_name(tmp_path: Path) -> None:
    assert _gpus("ghost_process", tmp_path)[1].processes == (_unseen(4_194_303, "compute", JOB_BYTES + 1),)


def test_a_process_that_only_draws(tmp_path: Path) -> None:
    assert _gpus("desktop", tmp_path)[0].processes == (_unseen(os.getpid(), "graphics", 312_000_001),)


def test_a_process_that_the_machine_shows_has_name_user_and_command(tmp_path: Path) -> None:
    folder = tmp_path / "root/proc" / str(os.getpid())
    folder.mkdir(parents=True)
    (folder / "comm").write_text("python\n", encoding="utf-8")
    (folder / "cmdline").write_bytes(b"python\0train.py\0--epochs\0" + b"9\0")
    passwd = tmp_path / "root/etc/passwd"
    passwd.parent.mkdir(parents=True)
    passwd.write_text(f"ada:x:{os.getuid()}:100::/home/ada:/bin/sh\n", encoding="utf-8")
    processes = _gpus("healthy", tmp_path)[0].processes
    assert isinstance(processes, tuple)
    (process,) = processes
    assert (process.name, process.user, process.command, process.own) == (
        "python",
        "ada",
        "python train.py --epochs 9",
        True,
    )


def test_many_processes_fit(tmp_path: Path) -> None:
    lines = tuple(f"gpu0.process={1000 + number},{number + 1}" for number in range(50))
    _, gpus = ask_nvml(named("idle").with_lines(*lines), tmp_path)
    assert not isinstance(gpus, Missing)
    assert isinstance(gpus[0].processes, tuple)
    assert [process.pid for process in gpus[0].processes] == list(range(1000, 1050))


@pytest.mark.parametrize("name", ["wide_process_records", "old_driver", "base"])
def test_several_processes_are_told_apart_whatever_the_size_of_a_record(name: str, tmp_path: Path) -> None:
    lines = [f"gpu1.process={pid},{pid * 1_000_003}" for pid in (11, 22, 33)]
    _, gpus = ask_nvml(named(name).with_lines(*lines), tmp_path)
    assert not isinstance(gpus, Missing)
    assert gpus[1].processes == tuple(_unseen(pid, "compute", pid * 1_000_003) for pid in (11, 22, 33))


def test_mig_counts_its_instances(tmp_path: Path) -> None:
    gpu = _gpus("mig_instances", tmp_path)[0]
    assert (gpu.mig_mode, gpu.mig_instances) == ("enabled", 2)
    assert gpu.utilization.gpu_percent == Missing("not_supported")


def test_mig_without_instances(tmp_path: Path) -> None:
    gpu = _gpus("mig_without_instances", tmp_path)[0]
    assert (gpu.mig_mode, gpu.mig_instances) == ("enabled", 0)


def test_a_name_that_is_not_utf8_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    assert _gpus("name_not_utf8", tmp_path)[0].name == "NVIDIA H100 \ufffd\ufffd 80GB"


@pytest.mark.parametrize(
    ("name", "reasons"), [("idle", ("GpuIdle",)), ("operator_clocks", ("ApplicationsClocksSetting",)), ("healthy", ())]
)
def test_clock_event_reasons_by_name(name: str, reasons: tuple[str, ...], tmp_path: Path) -> None:
    assert _gpus(name, tmp_path)[0].throttle_reasons == reasons


def test_a_hang_keeps_who_the_gpus_are_and_says_which_one_was_asked(tmp_path: Path) -> None:
    scenario = replace(named("healthy_8").with_lines("gpu2.hang=utilization"), hangs=True)
    nvml, gpus = ask_nvml(scenario, tmp_path)
    assert nvml.status == "timeout"
    assert nvml.message == "NVML did not answer: timeout after 0.5 s (GPU 2)"
    assert nvml.driver_version == "580.95.05"
    assert not isinstance(gpus, Missing)
    assert [gpu.status for gpu in gpus] == ["ok", "ok", "timeout", *["not_read"] * 5]
    assert [gpu.uuid for gpu in gpus] == [figures["uuid"] for figures in scenario.gpus]
    assert gpus[1].temperature_c == 43
    assert gpus[2].temperature_c == Missing("not collected")


def test_the_call_that_blocks_is_never_made(tmp_path: Path) -> None:
    _gpus("healthy_8", tmp_path)
    assert "pcie_throughput" not in (tmp_path / "nvml-calls.log").read_text(encoding="utf-8")


def test_a_root_without_the_library_never_borrows_this_machines(tmp_path: Path) -> None:
    nvml, gpus = ask_nvml("no_nvml", tmp_path)
    assert nvml.message == "libnvidia-ml.so.1: not found under the machine root"
    assert isinstance(gpus, Missing)


def test_the_unversioned_name_alone_is_enough(tmp_path: Path) -> None:
    def rename(root: Path) -> None:
        for link in root.rglob("libnvidia-ml.so.1"):
            link.rename(link.with_name("libnvidia-ml.so"))

    nvml, _ = ask_nvml("healthy", tmp_path, change=rename)
    assert nvml.status == "ok"


def test_a_library_that_is_no_library_is_named(tmp_path: Path) -> None:
    def damage(root: Path) -> None:
        for file in root.rglob("libnvidia-ml.so.5*"):
            file.write_bytes(b"not a library")

    nvml, _ = ask_nvml("healthy", tmp_path, change=damage)
    assert nvml.status == "library_not_found"
    assert "libnvidia-ml.so.1" in str(nvml.message)


def test_on_wsl_the_windows_drivers_library_is_taken(tmp_path: Path) -> None:
    def move(root: Path) -> None:
        wsl = root / "usr/lib/wsl/lib"
        wsl.mkdir(parents=True)
        for file in root.rglob("libnvidia-ml.so.580*"):
            shutil.move(file, wsl / "libnvidia-ml.so.1")
        (root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1").unlink()
        (root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1").write_bytes(b"a stub")

    nvml, _ = ask_nvml("healthy", tmp_path, change=move, LD_LIBRARY_PATH="")
    assert nvml.status == "ok"
    assert "/usr/lib/wsl/lib/" in str(nvml.library_path)


BROKEN_BINDINGS = {
    "does not parse": "def (",
    "raises": "raise RuntimeError('half installed')",
    "leaves": "import sys; sys.exit(3)",
    "is something else": "value = 1",
    "has no error class": "nvmlInit = nvmlDeviceGetCount = nvmlDeviceGetHandleByIndex = print",
}


@pytest.mark.parametrize("text", BROKEN_BINDINGS.values(), ids=BROKEN_BINDINGS)
def test_damaged_or_foreign_bindings_are_named(text: str, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "pynvml.py").write_text(text, encoding="utf-8")
    nvml, gpus = ask_nvml("healthy", tmp_path, shadow=shadow)
    assert nvml.status == "binding_broken"
    assert "pynvml" in str(nvml.message)
    assert gpus == Missing("NVML: binding_broken")


def test_bindings_that_lack_a_call_lose_that_field_only(tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    real = _where_pynvml_is()
    gone = "del nvmlDeviceGetFanSpeed, nvmlDeviceGetTemperatureV, nvmlDeviceGetSerial\n"
    (shadow / "pynvml.py").write_text(real.read_text(encoding="utf-8") + gone, encoding="utf-8")
    _, gpus = ask_nvml("healthy", tmp_path, shadow=shadow)
    assert not isinstance(gpus, Missing)
    assert (gpus[0].fan_percent, gpus[0].serial) == (Missing("function_not_found"), Missing("function_not_found"))
    assert (gpus[0].temperature_c, gpus[0].status) == (42, "ok")


def _where_pynvml_is() -> Path:
    found = importlib.util.find_spec("pynvml")
    assert found is not None
    return Path(str(found.origin))
