"""Builds the /proc, /sys, /dev and driver libraries of a described machine under a folder (GPUDOCTOR_SYSROOT).

Only what the described machine would have is written, never a copy of the machine under test: a file that leaked
in from there would give a scenario a second, false cause.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

Container = Literal["docker", "podman", "kubernetes"]

_LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu"
_WSL_LIBRARY_FOLDER = "usr/lib/wsl/lib"
_COMPAT_FOLDER = "usr/local/cuda/compat"
_NVIDIA_MAJOR = 195  # Documentation/admin-guide/devices.txt of the Linux kernel
_CPUS = 16
_UVM_MAJOR = 510  # dynamic; any number above 234
_CONTAINER_ID = "4f1c0ffee7d2b8a96350e4e21d7c9b08aa55c3f1e6d27b9481c0d3e5f6a7b8c9"
_EFI_VARIABLE = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_SETTINGS_IN_FRONT = b"\x06\x00\x00\x00"  # four attribute bytes stand before the value of an EFI variable
_BOOT_TIME = "Nov 30 12:00:00 host kernel:"


@dataclass(frozen=True, slots=True, kw_only=True)
class PciGpu:
    """One NVIDIA display device on the PCI bus."""

    address: str
    device: int = 0x2330
    subsystem: int = 0x16C1
    runtime_status: str = "active"
    width: int = 16
    width_max: int = 16
    bound: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What a machine's files tell. `None` for the driver, the module or the log: there is none to read.

    `compat` is the version of a cuda-compat libcuda that stands before the driver's own on LD_LIBRARY_PATH;
    `device_rules` are the lines of a container's cgroup device list.
    """

    driver: str | None = "580.95.05"
    kernel_module: str | None = "580.95.05"
    open_module: bool = True
    nouveau: bool = False
    uvm: bool = True
    device_nodes: tuple[str, ...] | None = None
    node_mode: int = 0o666
    pci_gpus: tuple[PciGpu, ...] = (PciGpu(address="0000:17:00.0"), PciGpu(address="0000:27:00.0"))
    container: Container | None = None
    wsl: bool = False
    secure_boot: bool | None = None
    kernel_log: tuple[str, ...] | None = ()
    cpu_quota: float | None = None
    kernel: str = "6.8.0-60-generic"
    device_rules: tuple[str, ...] | None = None
    libraries: tuple[str, ...] = ("libcuda", "libnvidia-ml")
    compat: str | None = None
    module_on_disk: bool = True

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the device nodes: those told, or those that the loaded modules would have made."""
        if self.device_nodes is not None:
            return self.device_nodes
        if self.wsl:
            return ("dxg",)
        if self.kernel_module is None:
            return ()
        cards = tuple(f"nvidia{minor}" for minor in range(len(self.pci_gpus)))
        return (*cards, "nvidiactl", *(("nvidia-uvm", "nvidia-uvm-tools") if self.uvm else ()))


class Sysroot(NamedTuple):
    """A built machine root and the variables that make a process see it."""

    root: Path
    environment: dict[str, str]


def build(root: Path, machine: Machine, libraries: dict[str, Path]) -> Sysroot:
    """Write the machine under `root`; `libraries` maps libcuda and libnvidia-ml to the compiled fakes."""
    for part in (_write_proc, _write_modules, _write_pci, _write_nodes, _write_container, _write_logs, _write_etc):
        part(root, machine)
    folder = root / (_WSL_LIBRARY_FOLDER if machine.wsl else _LIBRARY_FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    search = [folder]
    if machine.driver is not None:
        chosen = {name: path for name, path in libraries.items() if name in machine.libraries}
        _install_libraries(folder, machine.driver, chosen)
    if machine.compat is not None:
        search.insert(0, root / _COMPAT_FOLDER)
        _install_libraries(search[0], machine.compat, {"libcuda": libraries["libcuda"]})
    path = os.pathsep.join(str(folder) for folder in search)
    return Sysroot(root, {"GPUDOCTOR_SYSROOT": str(root), "LD_LIBRARY_PATH": path})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _install_libraries(folder: Path, driver: str, libraries: dict[str, Path]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, compiled in libraries.items():
        real = folder / f"{name}.so.{driver}"
        shutil.copy2(compiled, real)
        (folder / f"{name}.so.1").symlink_to(real.name)


def _write_proc(root: Path, machine: Machine) -> None:
    kernel = "5.15.153.1-microsoft-standard-WSL2" if machine.wsl else machine.kernel
    _write(
        root / "proc/version",
        f"Linux version {kernel} (builder@host) (gcc (Ubuntu 12.3.0) 12.3.0) #63 SMP PREEMPT_DYNAMIC\n",
    )
    _write(root / "proc/sys/kernel/osrelease", f"{kernel}\n")
    _write(root / "proc/mounts", "proc /proc proc rw 0 0\nsysfs /sys sysfs rw 0 0\n/dev/nvme0n1p2 / ext4 rw 0 0\n")
    _write(root / "proc/self/mountinfo", "21 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n")
    _write(
        root / "proc/meminfo",
        "MemTotal:       263921788 kB\nMemFree:        101234567 kB\nMemAvailable:   201234568 kB\n",
    )
    cpus = (f"processor\t: {i}\nmodel name\t: AMD EPYC 7763 64-Core Processor\n\n" for i in range(_CPUS))
    _write(root / "proc/cpuinfo", "".join(cpus))
    devices = "Character devices:\n  1 mem\n  5 /dev/tty\n"
    if machine.kernel_module is not None:
        devices += f"{_NVIDIA_MAJOR} nvidia\n" + (f"{_UVM_MAJOR} nvidia-uvm\n" if machine.uvm else "")
    _write(root / "proc/devices", f"{devices}\nBlock devices:\n259 blkext\n")


def _write_modules(root: Path, machine: Machine) -> None:
    loaded = ["ext4 1032192 1 - Live 0x0000000000000000"]
    version = machine.kernel_module
    if machine.nouveau:
        loaded.append("nouveau 3096576 0 - Live 0x0000000000000000")
        _write(root / "sys/module/nouveau/initstate", "live\n")
    if version is not None:
        users = " nvidia_uvm," if machine.uvm else " -"
        loaded.append(f"nvidia 11501568 {len(users) // 12}{users} Live 0x0000000000000000 (OE)")
        _write(root / "sys/module/nvidia/version", f"{version}\n")
        _write(root / "sys/module/nvidia/initstate", "live\n")
        kind = "UNIX Open Kernel Module" if machine.open_module else "UNIX x86_64 Kernel Module"
        arch = " for x86_64" if machine.open_module else ""
        _write(
            root / "proc/driver/nvidia/version",
            f"NVRM version: NVIDIA {kind}{arch}  {version}  Release Build  (builder@host)  Tue Sep 23 10:11:41 UTC 2025\n"
            "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0)\n",
        )
    if version is not None and machine.uvm:
        loaded.append("nvidia_uvm 2076672 0 - Live 0x0000000000000000 (OE)")
        _write(root / "sys/module/nvidia_uvm/version", f"{version}\n")
        _write(root / "sys/module/nvidia_uvm/initstate", "live\n")
    if machine.module_on_disk:
        _write(root / f"lib/modules/{machine.kernel}/updates/dkms/nvidia.ko", "")
    _write(root / "proc/modules", "".join(f"{line}\n" for line in loaded))


def _write_pci(root: Path, machine: Machine) -> None:
    (root / "sys/bus/pci/devices").mkdir(parents=True, exist_ok=True)
    for minor, gpu in enumerate(machine.pci_gpus):
        folder = root / "sys/bus/pci/devices" / gpu.address
        for name, text in {
            "vendor": "0x10de",
            "device": f"0x{gpu.device:04x}",
            "class": "0x030200",
            "subsystem_vendor": "0x10de",
            "subsystem_device": f"0x{gpu.subsystem:04x}",
            "current_link_width": str(gpu.width),
            "max_link_width": str(gpu.width_max),
            "power/runtime_status": gpu.runtime_status,
            "numa_node": "0",
        }.items():
            _write(folder / name, f"{text}\n")
        driver = "nvidia" if machine.kernel_module else "nouveau" if machine.nouveau else None
        if gpu.bound and driver is not None:
            (root / f"sys/bus/pci/drivers/{driver}").mkdir(parents=True, exist_ok=True)
            (folder / "driver").symlink_to(f"../../drivers/{driver}")
        if gpu.bound and machine.kernel_module:
            _write(
                root / "proc/driver/nvidia/gpus" / gpu.address / "information",
                f"Bus Location: \t {gpu.address}\nDevice Minor: \t {minor}\n",
            )


def _write_nodes(root: Path, machine: Machine) -> None:
    (root / "dev/shm").mkdir(parents=True)
    for number, name in enumerate(("null", *machine.nodes)):
        path = root / "dev" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o666 if name == "null" else machine.node_mode
        _make_node(path, _device_number(name, number))
        path.chmod(mode)


def _device_number(name: str, position: int) -> int:
    if name == "null":
        return os.makedev(1, 3)
    if name == "nvidiactl":
        return os.makedev(_NVIDIA_MAJOR, 255)
    suffix = name.removeprefix("nvidia")
    return os.makedev(_NVIDIA_MAJOR, int(suffix)) if suffix.isdigit() else os.makedev(_UVM_MAJOR, position)


def _make_node(path: Path, number: int) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, number)
    except OSError:  # without the privilege a plain file stands in: it has a path and a mode
        path.touch()


def _write_container(root: Path, machine: Machine) -> None:
    groups = {
        None: "/init.scope",
        "docker": f"/docker/{_CONTAINER_ID}",
        "podman": f"/machine.slice/libpod-{_CONTAINER_ID}.scope",
        "kubernetes": f"/kubepods.slice/kubepods-burstable.slice/cri-containerd-{_CONTAINER_ID}.scope",
    }
    _write(root / "proc/1/cgroup", f"0::{groups[machine.container]}\n")
    _write(root / "proc/self/cgroup", f"0::{groups[machine.container] if machine.container else '/user.slice'}\n")
    if machine.container == "docker":
        _write(root / ".dockerenv", "")
    if machine.container == "podman":
        _write(root / "run/.containerenv", 'engine="podman-5.0.0"\n')
    if machine.container == "kubernetes":
        _write(root / "var/run/secrets/kubernetes.io/serviceaccount/namespace", "default\n")
    if machine.device_rules is not None:
        _write(root / "sys/fs/cgroup/devices/devices.list", "".join(f"{rule}\n" for rule in machine.device_rules))
    _write(root / "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n")
    quota = "max" if machine.cpu_quota is None else str(int(machine.cpu_quota * 100_000))
    _write(root / "sys/fs/cgroup/cpu.max", f"{quota} 100000\n")


def _write_logs(root: Path, machine: Machine) -> None:
    if machine.kernel_log is None:
        return
    lines = enumerate(machine.kernel_log, start=1)
    _write(root / "var/log/kern.log", "".join(f"{_BOOT_TIME} [{i:5}.000001] {line}\n" for i, line in lines))
    lines = enumerate(machine.kernel_log, start=1)
    _write(root / "dev/kmsg", "".join(f"4,{i},{i}000001,-;{line}\n" for i, line in lines))


def _write_etc(root: Path, machine: Machine) -> None:
    _write(root / "etc/os-release", 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n')
    _write(root / "etc/ld.so.conf", f"/{_WSL_LIBRARY_FOLDER if machine.wsl else _LIBRARY_FOLDER}\n")
    if machine.secure_boot is not None:
        variable = root / "sys/firmware/efi/efivars" / _EFI_VARIABLE
        variable.parent.mkdir(parents=True, exist_ok=True)
        variable.write_bytes(_SETTINGS_IN_FRONT + bytes([machine.secure_boot]))
