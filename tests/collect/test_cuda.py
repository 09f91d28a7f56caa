"""libcuda asked directly, through every start-up fault that the fake plays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpudoctor.collect import cuda
from gpudoctor.model.machine import CudaDevice
from gpudoctor.model.missing import Missing
from tests.collect.asking import ask, ask_cuda, named
from tests.fakes import environment

FOLDER = "root/usr/lib/x86_64-linux-gnu"


def test_a_driver_that_works(tmp_path: Path) -> None:
    found = ask_cuda("base", tmp_path)
    assert (found.status, found.message) == ("ok", Missing("none"))
    assert (found.cu_init, found.cu_init_name) == (0, "CUDA_SUCCESS")
    assert found.driver_api_version == "13.0"
    assert found.libcuda_path == str(tmp_path / FOLDER / "libcuda.so.580.95.05")
    assert (found.library_version, found.origin, found.other_paths) == ("580.95.05", "driver", ())
    assert found.devices == tuple(
        CudaDevice(
            name=str(gpu["name"]),
            compute_capability=f"{gpu['cc_major']}.{gpu['cc_minor']}",
            pci=f"0000:{gpu['pci_bus']:02x}:00.0",
            memory_bytes=int(gpu["memory_total"]),
        )
        for gpu in named("base").gpus
    )


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (34, "CUDA_ERROR_STUB_LIBRARY"),
        (100, "CUDA_ERROR_NO_DEVICE"),
        (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        (804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
        (999, "CUDA_ERROR_UNKNOWN"),
        (12345, "CUDA error 12345"),
    ],
)
def test_each_code_of_cuinit_is_told_by_name(code: int, name: str, tmp_path: Path) -> None:
    found = ask_cuda("healthy", tmp_path, FAKE_CUDA_INIT=str(code))
    assert (found.status, found.cu_init, found.cu_init_name) == ("error", code, name)
    assert found.driver_api_version == "13.0"
    assert found.devices == (() if code == 100 else Missing(f"cuInit: {name}"))


@pytest.mark.parametrize(("way", "status"), [("hang", "timeout"), ("segfault", "crashed")])
def test_a_cuinit_that_never_returns_keeps_which_library_it_was(way: str, status: str, tmp_path: Path) -> None:
    found = ask_cuda("healthy", tmp_path, FAKE_CUDA_INIT=way)
    assert found.status == status
    assert str(found.message).startswith("libcuda did not answer: ")
    assert (found.library_version, found.origin) == ("580.95.05", "driver")
    assert isinstance(found.cu_init, Missing)
    assert isinstance(found.devices, Missing)


def test_the_mask_stays_in_force_and_is_told(tmp_path: Path) -> None:
    found = ask_cuda("base", tmp_path, CUDA_VISIBLE_DEVICES="1")
    assert isinstance(found.devices, tuple)
    assert [device.pci for device in found.devices] == ["0000:27:00.0"]
    assert found.message == "CUDA_VISIBLE_DEVICES='1'"


def test_a_mask_that_hides_all_is_told_from_a_machine_without_gpus(tmp_path: Path) -> None:
    found = ask_cuda("base", tmp_path, CUDA_VISIBLE_DEVICES="-1")
    assert (found.cu_init, found.devices) == (100, ())
    assert found.message == "no CUDA-capable device is detected; CUDA_VISIBLE_DEVICES='-1'"
    hidden = {**environment(named("base"), tmp_path / "2"), "CUDA_VISIBLE_DEVICES": "-1"}
    assert ask(hidden, cuda.count_unmasked).value == 2
    none = {**environment(named("zero_gpus"), tmp_path / "3"), "CUDA_VISIBLE_DEVICES": ""}
    assert ask(none, cuda.count_unmasked).value == 0


def test_no_driver_at_all(tmp_path: Path) -> None:
    found = ask_cuda("no_nvml", tmp_path)
    assert found.status == "library_not_found"
    assert found.message == "libcuda.so.1: not found under the machine root"
    assert found.other_paths == ()


def test_a_file_that_is_no_library_is_an_error_not_an_absence(tmp_path: Path) -> None:
    def damage(root: Path) -> None:
        for file in root.rglob("libcuda.so.5*"):
            file.write_bytes(b"not a library")

    found = ask_cuda("healthy", tmp_path, change=damage)
    assert found.status == "error"
    assert isinstance(found.libcuda_path, str)


def test_a_library_of_that_name_which_is_not_libcuda(tmp_path: Path) -> None:
    def exchange(root: Path) -> None:
        folder = root / "usr/lib/x86_64-linux-gnu"
        shutil.copy(folder / "libnvidia-ml.so.580.95.05", folder / "libcuda.so.580.95.05")

    found = ask_cuda("healthy", tmp_path, change=exchange)
    assert found.status == "error"
    assert "cuDriverGetVersion" in str(found.message)


def test_a_compat_library_that_stands_before_the_drivers_own(tmp_path: Path) -> None:
    found = ask_cuda("compat_on_geforce", tmp_path)
    assert (found.origin, found.library_version, found.cu_init) == ("compat", "580.95.05", 804)
    assert found.other_paths == (str(tmp_path / FOLDER / "libcuda.so.535.183.01"),)


@pytest.mark.parametrize(
    ("folder", "origin"),
    [
        ("usr/lib/wsl/lib", "wsl"),
        ("usr/local/cuda-12.8/lib64/stubs", "stub"),
        ("usr/local/cuda-12.8/compat", "compat"),
        ("usr/local/nvidia/lib64", "container"),
        ("usr/lib64", "driver"),
        ("opt/elsewhere", "other"),
    ],
)
def test_where_the_library_comes_from(folder: str, origin: str, tmp_path: Path) -> None:
    def move(root: Path) -> None:
        there = root / folder
        there.mkdir(parents=True)
        shutil.move(root / "usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", there / "libcuda.so.1")
        (root / "usr/lib/x86_64-linux-gnu/libcuda.so.1").unlink()

    found = ask_cuda("healthy", tmp_path, change=move, LD_LIBRARY_PATH=str(tmp_path / "root" / folder))
    assert (found.status, found.origin) == ("ok", origin)
    assert found.library_version == Missing("not in the file name")


def test_a_file_that_the_container_toolkit_mounted(tmp_path: Path) -> None:
    def mount(root: Path) -> None:
        line = "99 21 259:2 /x /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05 ro - ext4 /dev/nvme0n1p2 ro\n"
        with (root / "proc/self/mountinfo").open("a", encoding="utf-8") as file:
            file.write(line)

    assert ask_cuda("healthy", tmp_path, change=mount).origin == "container"


def test_a_stub_beside_the_driver_is_named_among_the_others(tmp_path: Path) -> None:
    stub = tmp_path / "root/usr/local/cuda-12.8/lib64/stubs/libcuda.so"

    def add(root: Path) -> None:
        stub.parent.mkdir(parents=True)
        shutil.copy(root / "usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", stub)

    assert ask_cuda("healthy", tmp_path, change=add).other_paths == (str(stub),)
