"""The kernel's side of the driver: module, device nodes, PCI bus, Secure Boot, read from files under a machine root.

`lsmod`, `lspci`, `modinfo` and `mokutil` tell the same; each costs a process, is often not installed in a container, and none
of them takes a root.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from gpudoctor.collect.kernel_log import read_xids
from gpudoctor.collect.text_file import word_of
from gpudoctor.model.machine import DeviceNode, Kernel, PciGpu
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.words import ModuleFlavour

NVIDIA_VENDOR, DISPLAY_CLASS = "0x10de", "0x03"  # PCI ID repository: NVIDIA, base class "display controller"
VERSION_LINE = re.compile(r"Kernel Module(?: for \S+)?\s+(\d+\.\d+(?:\.\d+)?)")
OPEN_KERNEL_MODULE = "Open Kernel Module"
EFI_ATTRIBUTE_BYTES = 4  # they stand before the value of an EFI variable (efivarfs of the Linux kernel)
CAP_SYS_ADMIN = 1 << 21  # linux/capability.h; NVIDIA's page on ERR_NVGPUCTRPERM asks for it
WSL_NODE = "dxg"  # the paravirtual GPU node of WSL 2
# Where DKMS, distributions and NVIDIA's installer put the module; modules.dep lists all of them where depmod ran.
MODULE_PLACES = (
    "updates/dkms/nvidia.ko*",
    "updates/nvidia.ko*",
    "kernel/drivers/video/nvidia.ko*",
    "kernel/nvidia-*/nvidia.ko*",
    "extra/nvidia*.ko*",
    "extra/nvidia*/nvidia.ko*",
    "extramodules/nvidia.ko*",
)


def collect_kernel(root: Path = Path("/")) -> Kernel:
    """Return what the kernel's files tell about the driver."""
    if not sys.platform.startswith("linux"):
        none = Missing("not a Linux kernel")
        return Kernel(module_loaded=none, device_nodes=none, pci_gpus=none, xids=none, log_readable=none)
    told = word_of(root / "proc/driver/nvidia/version")
    loaded = _modules(root)
    xids, readable = read_xids(root)
    return Kernel(
        module_version=_module_version(root, told),
        module_loaded=True if told else _is_loaded(loaded, "nvidia"),
        flavour=_flavour(told),
        nouveau_loaded=_is_loaded(loaded, "nouveau"),
        uvm_loaded=_is_loaded(loaded, "nvidia_uvm"),
        secure_boot=_secure_boot(root),
        module_on_disk=_module_on_disk(root),
        device_nodes=_device_nodes(root),
        pci_gpus=_pci_gpus(root),
        xids=xids,
        log_readable=readable,
        profiling_open=_profiling_open(root),
    )


def _modules(root: Path) -> Maybe[frozenset[str]]:
    try:
        lines = (root / "proc/modules").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return Missing(f"/proc/modules: {error.strerror}")
    return frozenset(line.partition(" ")[0] for line in lines)


def _is_loaded(loaded: Maybe[frozenset[str]], module: str) -> Maybe[bool]:
    return loaded if isinstance(loaded, Missing) else module in loaded


def _module_version(root: Path, told: str) -> Maybe[str]:
    match = VERSION_LINE.search(told)
    if match:
        return match[1]
    return word_of(root / "sys/module/nvidia/version") or Missing("module not loaded")


def _flavour(told: str) -> Maybe[ModuleFlavour]:
    if "Kernel Module" not in told:
        return Missing("module not loaded")
    return "open" if OPEN_KERNEL_MODULE in told else "proprietary"


def _profiling_open(root: Path) -> Maybe[bool]:
    """Return whether the performance counters are open: to all (NVreg_RestrictProfilingToAdminUsers=0) or to this process."""
    setting = re.search(r"^RmProfilingAdminOnly:\s*(\d)", word_of(root / "proc/driver/nvidia/params"), re.MULTILINE)
    if setting is None:
        return Missing("the driver's parameters do not tell")
    held = re.search(r"^CapEff:\s*([0-9a-f]+)", word_of(root / "proc/self/status"), re.MULTILINE)
    return setting[1] == "0" or (held is not None and bool(int(held[1], 16) & CAP_SYS_ADMIN))


def _secure_boot(root: Path) -> Maybe[bool]:
    for variable in (root / "sys/firmware/efi/efivars").glob("SecureBoot-*"):
        try:
            value = variable.read_bytes()[EFI_ATTRIBUTE_BYTES:]
        except OSError as error:
            return Missing(f"EFI variable: {error.strerror}")
        return value[:1] == b"\x01"
    return Missing("no EFI variables to read")


def _module_on_disk(root: Path) -> Maybe[bool]:
    release = word_of(root / "proc/sys/kernel/osrelease")
    folder = root / "lib/modules" / release
    if not release or not folder.is_dir():
        return Missing(f"no /lib/modules/{release} here")
    if "/nvidia.ko" in word_of(folder / "modules.dep"):
        return True
    return any(True for place in MODULE_PLACES for _ in folder.glob(place))


def _device_nodes(root: Path) -> Maybe[tuple[DeviceNode, ...]]:
    try:
        names = sorted(os.listdir(root / "dev"))  # noqa: PTH208  # names are wanted, not paths
    except OSError as error:
        return Missing(f"/dev: {error.strerror}")
    return tuple(_node(root, name) for name in names if name.startswith("nvidia") or name == WSL_NODE)


def _node(root: Path, name: str) -> DeviceNode:
    path = root / "dev" / name
    try:
        mode: Maybe[str] = f"{stat.S_IMODE(path.stat().st_mode):04o}"
    except OSError as error:
        mode = Missing(str(error.strerror))
    return DeviceNode(
        path=f"/dev/{name}", readable=os.access(path, os.R_OK), writable=os.access(path, os.W_OK), mode=mode
    )


def _pci_gpus(root: Path) -> Maybe[tuple[PciGpu, ...]]:
    bus = root / "sys/bus/pci/devices"
    try:
        addresses = sorted(os.listdir(bus))  # noqa: PTH208  # names are wanted, not paths
    except OSError as error:
        return Missing(f"PCI bus: {error.strerror}")
    return tuple(_nvidia_gpus(bus, addresses))


def _nvidia_gpus(bus: Path, addresses: list[str]) -> Iterator[PciGpu]:
    for address in addresses:
        folder = bus / address
        if word_of(folder / "vendor") != NVIDIA_VENDOR or not word_of(folder / "class").startswith(DISPLAY_CLASS):
            continue
        try:
            driver: Maybe[str] = (folder / "driver").readlink().name
        except OSError:
            driver = Missing("none")
        unread = Missing("unreadable")
        yield PciGpu(
            address=address,
            device_id=word_of(folder / "device") or Missing("unreadable"),
            driver=driver,
            runtime_status=word_of(folder / "power/runtime_status") or Missing("unreadable"),
            iommu=word_of(folder / "iommu_group/type") or ("none" if not (folder / "iommu_group").exists() else unread),
        )
