"""A built machine root holds what the described machine would have, and nothing else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, PciGpu, environment, make_sysroot

DRIVER = "580.95.05"


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_a_plain_machine_has_one_driver_version_everywhere(tmp_path: Path) -> None:
    root, variables = make_sysroot(tmp_path)
    assert f"  {DRIVER}  " in text(root / "proc/driver/nvidia/version")
    assert text(root / "sys/module/nvidia/version").strip() == DRIVER
    for library in ("libcuda", "libnvidia-ml"):
        link = root / f"usr/lib/x86_64-linux-gnu/{library}.so.1"
        assert link.resolve().name == f"{library}.so.{DRIVER}"
    assert variables == {
        "GPUDOCTOR_SYSROOT": str(root),
        "LD_LIBRARY_PATH": str(root / "usr/lib/x86_64-linux-gnu"),
    }


def test_device_nodes_follow_the_modules(tmp_path: Path) -> None:
    root = make_sysroot(tmp_path, node_mode=0o600).root
    nodes = sorted(path.name for path in (root / "dev").glob("nvidia*"))
    assert nodes == ["nvidia-uvm", "nvidia-uvm-tools", "nvidia0", "nvidia1", "nvidiactl"]
    assert {stat.S_IMODE((root / "dev" / name).stat().st_mode) for name in nodes} == {0o600}


def test_without_the_module_there_is_neither_node_nor_version(tmp_path: Path) -> None:
    root = make_sysroot(tmp_path, kernel_module=None, nouveau=True, secure_boot=True).root
    assert not list((root / "dev").glob("nvidia*"))
    assert not (root / "proc/driver/nvidia").exists()
    modules = text(root / "proc/modules")
    assert "nouveau" in modules
    assert "nvidia" not in modules
    (variable,) = (root / "sys/firmware/efi/efivars").iterdir()
    assert variable.read_bytes()[-1] == 1
    assert (root / "sys/bus/pci/devices/0000:17:00.0/driver").readlink().name == "nouveau"


def test_a_library_over_another_module_shows_both_versions(tmp_path: Path) -> None:
    root = make_sysroot(tmp_path, kernel_module="580.82.07").root
    assert text(root / "sys/module/nvidia/version").strip() == "580.82.07"
    assert (root / f"usr/lib/x86_64-linux-gnu/libcuda.so.{DRIVER}").exists()


def test_gpus_stand_on_the_bus(tmp_path: Path) -> None:
    root = make_sysroot(tmp_path, pci_gpus=(PciGpu(address="0000:65:00.0", device=0x2204, width=8),)).root
    (folder,) = (root / "sys/bus/pci/devices").iterdir()
    facts = {name: text(folder / name).strip() for name in ("vendor", "device", "class", "current_link_width")}
    assert facts == {"vendor": "0x10de", "device": "0x2204", "class": "0x030200", "current_link_width": "8"}


@pytest.mark.parametrize(
    ("container", "mark"),
    [
        ("docker", ".dockerenv"),
        ("podman", "run/.containerenv"),
        ("kubernetes", "var/run/secrets/kubernetes.io/serviceaccount/namespace"),
    ],
)
def test_a_container_shows_its_mark(container: str, mark: str, tmp_path: Path) -> None:
    root = make_sysroot(tmp_path, container=container).root
    assert (root / mark).exists()
    assert text(root / "proc/1/cgroup") != "0::/init.scope\n"


def test_wsl_has_its_own_library_folder_and_no_module(tmp_path: Path) -> None:
    root, variables = make_sysroot(tmp_path, wsl=True, kernel_module=None)
    assert "microsoft" in text(root / "proc/version")
    assert (root / "dev/dxg").exists()
    assert variables["LD_LIBRARY_PATH"] == str(root / "usr/lib/wsl/lib")


def test_compat_stands_before_the_drivers_library(tmp_path: Path) -> None:
    root, variables = make_sysroot(tmp_path, driver="535.183.01", compat=DRIVER)
    first, second = variables["LD_LIBRARY_PATH"].split(":")
    assert (Path(first) / "libcuda.so.1").resolve().name == f"libcuda.so.{DRIVER}"
    assert (Path(second) / "libcuda.so.1").resolve().name == "libcuda.so.535.183.01"
    assert root in Path(first).parents


def test_a_closed_kernel_log_is_absent_and_an_open_one_is_there_in_both_forms(tmp_path: Path) -> None:
    closed = make_sysroot(tmp_path / "closed", kernel_log=None).root
    assert not (closed / "dev/kmsg").exists()
    line = "NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus."
    opened = make_sysroot(tmp_path / "open", kernel_log=(line,)).root
    assert text(opened / "dev/kmsg").endswith(f";{line}\n")
    assert text(opened / "var/log/kern.log").endswith(f"] {line}\n")


def test_a_cpu_quota_is_in_the_cgroup(tmp_path: Path) -> None:
    assert text(make_sysroot(tmp_path / "a", cpu_quota=2.5).root / "sys/fs/cgroup/cpu.max") == "250000 100000\n"
    assert text(make_sysroot(tmp_path / "b").root / "sys/fs/cgroup/cpu.max") == "max 100000\n"


@pytest.mark.parametrize("name", sorted({**SCENARIOS, **FURTHER_SCENARIOS}))
def test_each_scenario_brings_its_machine(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    scenario = {**SCENARIOS, **FURTHER_SCENARIOS}[name]
    variables = environment(scenario, tmp_path)
    assert "CUDA_VISIBLE_DEVICES" not in variables
    root = Path(variables["GPUDOCTOR_SYSROOT"])
    assert len(list((root / "sys/bus/pci/devices").iterdir())) == len(scenario.machine.pci_gpus)
    assert (root / "sys/module/nvidia/version").exists() == (scenario.machine.kernel_module is not None)
