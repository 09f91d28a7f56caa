"""The kernel's side of the driver, read from the files of described machines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.collect.kernel import collect_kernel
from gpudoctor.collect.kernel_log import read_xids
from gpudoctor.model.machine import DeviceNode, Kernel, PciGpu, XidEvent
from gpudoctor.model.missing import Missing
from tests.sysroot import Machine, build
from tests.sysroot import PciGpu as OnBus


def _kernel(tmp_path: Path, **options: Any) -> Kernel:  # the options of Machine, which checks them
    return collect_kernel(build(tmp_path / "root", Machine(**options), {}).root)


def test_a_loaded_open_module_with_all_its_files(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, kernel_module="580.82.07", open_module=True, secure_boot=False)
    assert kernel.module_version == "580.82.07"
    assert kernel.flavour == "open"
    assert (kernel.module_loaded, kernel.uvm_loaded, kernel.nouveau_loaded) == (True, True, False)
    assert (kernel.secure_boot, kernel.module_on_disk) == (False, True)
    assert (kernel.xids, kernel.log_readable) == ((), True)
    assert isinstance(kernel.device_nodes, tuple)
    assert [node.path for node in kernel.device_nodes] == [
        "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl",
    ]  # fmt: skip
    assert kernel.device_nodes[0] == DeviceNode(path="/dev/nvidia-uvm", readable=True, writable=True, mode="0666")


def test_a_proprietary_module(tmp_path: Path) -> None:
    assert _kernel(tmp_path, open_module=False).flavour == "proprietary"


def test_a_module_that_is_on_disk_and_not_loaded_under_secure_boot(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, kernel_module=None, secure_boot=True)
    assert (kernel.module_loaded, kernel.module_on_disk, kernel.secure_boot) == (False, True, True)
    assert kernel.module_version == Missing("module not loaded")
    assert kernel.device_nodes == ()


def test_where_the_kernels_modules_cannot_be_seen_none_is_called_absent(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, kernel_module=None, module_on_disk=False)
    assert kernel.module_on_disk == Missing("no /lib/modules/6.8.0-60-generic here")


def test_a_module_that_only_depmod_lists(tmp_path: Path) -> None:
    root = build(tmp_path / "root", Machine(module_on_disk=False), {}).root
    folder = root / "lib/modules/6.8.0-60-generic"
    folder.mkdir(parents=True)
    assert collect_kernel(root).module_on_disk is False
    (folder / "modules.dep").write_text("strange/place/nvidia.ko.zst: kernel/drivers/x.ko.zst\n", encoding="utf-8")
    assert collect_kernel(root).module_on_disk is True


def test_nouveau_in_the_drivers_place(tmp_path: Path) -> None:
    kernel = _kernel(
        tmp_path, kernel_module=None, nouveau=True, pci_gpus=(OnBus(address="0000:01:00.0", device=0x2204),)
    )
    assert kernel.nouveau_loaded is True
    assert kernel.pci_gpus == (
        PciGpu(address="0000:01:00.0", device_id="0x2204", driver="nouveau", runtime_status="active", iommu="none"),
    )


def test_a_gpu_without_a_driver_that_sleeps_and_a_device_that_is_no_gpu(tmp_path: Path) -> None:
    sleeping = OnBus(address="0000:01:00.0", bound=False, runtime_status="suspended")
    root = build(tmp_path / "root", Machine(pci_gpus=(sleeping, OnBus(address="0000:01:00.1"))), {}).root
    (root / "sys/bus/pci/devices/0000:01:00.1/class").write_text("0x040300\n", encoding="utf-8")  # its audio function
    assert collect_kernel(root).pci_gpus == (
        PciGpu(
            address="0000:01:00.0", device_id="0x2330", driver=Missing("none"), runtime_status="suspended", iommu="none"
        ),
    )


def test_missing_uvm(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, uvm=False)
    assert kernel.uvm_loaded is False
    assert isinstance(kernel.device_nodes, tuple)
    assert not any("uvm" in node.path for node in kernel.device_nodes)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_nodes_closed_to_this_user(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, node_mode=0o000)
    assert isinstance(kernel.device_nodes, tuple)
    assert {(node.readable, node.writable, node.mode) for node in kernel.device_nodes} == {(False, False, "0000")}


def test_the_mode_of_a_node_tells_even_root(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, node_mode=0o600)
    assert isinstance(kernel.device_nodes, tuple)
    assert {node.mode for node in kernel.device_nodes} == {"0600"}


def test_wsl_has_its_own_node_and_no_module(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, wsl=True, kernel_module=None)
    assert isinstance(kernel.device_nodes, tuple)
    assert [node.path for node in kernel.device_nodes] == ["/dev/dxg"]


def test_an_empty_root_knows_nothing_and_claims_nothing(tmp_path: Path) -> None:
    kernel = collect_kernel(tmp_path)
    for value in (kernel.module_loaded, kernel.secure_boot, kernel.device_nodes, kernel.pci_gpus, kernel.xids):
        assert isinstance(value, Missing)
    assert kernel.log_readable is False


def test_this_machine_can_be_read() -> None:
    assert isinstance(collect_kernel().log_readable, bool)


LINES = (
    "NVRM: Xid (PCI:0000:17:00): 31, pid=4242, name=python, Ch 00000008, MMU Fault",
    "usb 1-1: new device",
    "NVRM: Xid (PCI:0000:17:00): 31, pid=4243, name=python, Ch 00000009, MMU Fault",
    "NVRM: Xid (PCI:0000:27:00): 31, pid=4244, name=python, Ch 0000000a, MMU Fault",
    "NVRM: Xid (PCI:0000:17:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
)
EVENTS = (
    XidEvent(code=31, pci="0000:17:00.0", message="pid=4243, name=python, Ch 00000009, MMU Fault", count=2),
    XidEvent(code=31, pci="0000:27:00.0", message="pid=4244, name=python, Ch 0000000a, MMU Fault"),
    XidEvent(code=79, pci="0000:17:00.0", message="pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
)


def test_equal_errors_of_one_gpu_are_folded(tmp_path: Path) -> None:
    assert _kernel(tmp_path, kernel_log=LINES).xids == EVENTS


def test_without_the_ring_buffer_the_log_file_is_read_from_its_last_boot_on(tmp_path: Path) -> None:
    root = build(tmp_path / "root", Machine(kernel_log=LINES), {}).root
    (root / "dev/kmsg").unlink()
    assert read_xids(root) == (EVENTS, True)
    log = root / "var/log/kern.log"
    boot = "Dec  1 09:00:00 host kernel: [    0.000000] Linux version 6.8.0-60-generic\n"
    log.write_text(log.read_text(encoding="utf-8") + boot, encoding="utf-8")
    assert read_xids(root) == ((), True)


def test_a_huge_log_is_read_from_its_end(tmp_path: Path) -> None:
    log = tmp_path / "var/log/kern.log"
    log.parent.mkdir(parents=True)
    with log.open("w", encoding="utf-8") as file:
        file.write(f"{LINES[0]}\n")
        file.write("kernel: nothing of interest happened here\n" * 200_000)
        file.write(f"{LINES[4]}\n")
    assert read_xids(tmp_path) == ((EVENTS[2],), True)


def test_a_log_that_is_not_there_is_not_a_clean_log(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, kernel_log=None)
    assert (kernel.xids, kernel.log_readable) == (Missing("no kernel log here"), False)


def test_a_log_closed_to_this_user_is_not_a_clean_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path / "root", Machine(kernel_log=LINES), {}).root

    def closed(*_: object, **__: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "open", closed)
    monkeypatch.setattr(Path, "open", closed)
    assert read_xids(root) == (Missing("no_permission"), False)


@pytest.mark.parametrize(
    ("parameters", "status", "open_"),
    [
        ("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n", "CapEff:\t0000000000000000\n", True),
        ("RmProfilingAdminOnly: 1\n", "CapEff:\t0000000000000000\n", False),
        ("RmProfilingAdminOnly: 1\n", "CapEff:\t00000000a80425fb\n", False),  # what Docker leaves to root
        ("RmProfilingAdminOnly: 1\n", "CapEff:\t000001ffffffffff\n", True),
        ("RmProfilingAdminOnly: 1\n", "", False),
    ],
)
def test_counters_are_open_to_all_or_to_administrators(
    tmp_path: Path, parameters: str, status: str, open_: bool
) -> None:
    root = build(tmp_path / "root", Machine(), {}).root
    (root / "proc/driver/nvidia/params").write_text(parameters, encoding="utf-8")
    (root / "proc/self").mkdir(exist_ok=True)
    (root / "proc/self/status").write_text(status, encoding="utf-8")
    assert collect_kernel(root).profiling_open is open_


def test_without_the_drivers_parameters_it_is_unknown_whether_counters_are_open(tmp_path: Path) -> None:
    assert isinstance(_kernel(tmp_path).profiling_open, Missing)


def test_how_the_iommu_treats_a_gpu_stands_beside_it(tmp_path: Path) -> None:
    root = build(tmp_path / "root", Machine(), {}).root
    group = root / "sys/bus/pci/devices/0000:17:00.0/iommu_group"
    group.mkdir()
    (group / "type").write_text("DMA-FQ\n", encoding="utf-8")
    on_bus = collect_kernel(root).pci_gpus
    assert isinstance(on_bus, tuple)
    assert [each.iommu for each in on_bus] == ["DMA-FQ", "none"]
