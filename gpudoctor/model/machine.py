"""Facts about the machine: host, driver, kernel, scheduler, as the operating system and the driver tell them."""

from __future__ import annotations

from dataclasses import field

from gpudoctor.model.missing import NOT_COLLECTED, Maybe
from gpudoctor.model.record import dataclass
from gpudoctor.model.words import CudaOrigin, ModuleFlavour, SchedulerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """Processor counts; `quota_cores` is the cgroup limit (2.5 = two and a half cores), Missing when unlimited.

    `quota_hit_share`: the share of the scheduler's periods so far in which that limit stopped the group (0.4 = 40 %).
    """

    model: Maybe[str] = NOT_COLLECTED
    cores: Maybe[int] = NOT_COLLECTED
    affinity: Maybe[int] = NOT_COLLECTED
    quota_cores: Maybe[float] = NOT_COLLECTED
    quota_hit_share: Maybe[float] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The file system under a folder that training is likely to read: `filesystem` as the kernel names it (nfs4, 9p)."""

    folder: str
    filesystem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The operating system and what it runs on. `os` is linux, windows or darwin; `container` is none, docker ..."""

    os: Maybe[str] = NOT_COLLECTED
    distribution: Maybe[str] = NOT_COLLECTED
    kernel: Maybe[str] = NOT_COLLECTED
    arch: Maybe[str] = NOT_COLLECTED
    libc: Maybe[str] = NOT_COLLECTED
    wsl: Maybe[bool] = NOT_COLLECTED
    container: Maybe[str] = NOT_COLLECTED
    cpu: Cpu = field(default_factory=Cpu)
    memory_bytes: Maybe[int] = NOT_COLLECTED
    memory_available_bytes: Maybe[int] = NOT_COLLECTED
    shm_bytes: Maybe[int] = NOT_COLLECTED
    storage: Maybe[tuple[Storage, ...]] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvml:
    """How NVML answered. `status`: ok, library_not_found, driver_not_loaded, version_mismatch, no_permission, ...

    Our own status words: timeout, crashed, binding_broken. `library_version` is NVML's own ("13.580.95.05"), else its file
    name's ("580.95.05").
    """

    status: Maybe[str] = NOT_COLLECTED
    message: Maybe[str] = NOT_COLLECTED
    driver_version: Maybe[str] = NOT_COLLECTED
    cuda_driver_version: Maybe[str] = NOT_COLLECTED
    library_version: Maybe[str] = NOT_COLLECTED
    library_path: Maybe[str] = NOT_COLLECTED
    device_count: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaDevice:
    """One device as the CUDA driver API lists it, in CUDA order. `compute_capability` is like "8.6"."""

    name: Maybe[str] = NOT_COLLECTED
    compute_capability: Maybe[str] = NOT_COLLECTED
    pci: Maybe[str] = NOT_COLLECTED
    memory_bytes: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuda:
    """The CUDA driver API, asked directly. `status`: ok, library_not_found, error, or how asking it ended (timeout ...).

    `origin`: compat is that of cuda-compat. `cu_init` is the return code of cuInit(0) and outranks everything that NVML,
    /proc or /dev do not show. `library_version` is the version in the file name.
    `devices_unmasked`: how many there are without CUDA_VISIBLE_DEVICES; asked only where that variable may hide them all.
    """

    status: Maybe[str] = NOT_COLLECTED
    message: Maybe[str] = NOT_COLLECTED
    libcuda_path: Maybe[str] = NOT_COLLECTED
    library_version: Maybe[str] = NOT_COLLECTED
    origin: Maybe[CudaOrigin] = NOT_COLLECTED
    other_paths: Maybe[tuple[str, ...]] = NOT_COLLECTED
    cu_init: Maybe[int] = NOT_COLLECTED
    cu_init_name: Maybe[str] = NOT_COLLECTED
    driver_api_version: Maybe[str] = NOT_COLLECTED
    devices: Maybe[tuple[CudaDevice, ...]] = NOT_COLLECTED
    devices_unmasked: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """The job scheduler, where there is one.

    `installed`: whose commands are on PATH outside of a job: a login node has them.
    """

    kind: Maybe[SchedulerKind] = NOT_COLLECTED
    allocated_gpus: Maybe[int] = NOT_COLLECTED
    job: Maybe[str] = NOT_COLLECTED
    installed: Maybe[SchedulerKind] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNode:
    """One /dev/nvidia* node and whether this user may open it."""

    path: str
    readable: Maybe[bool] = NOT_COLLECTED
    writable: Maybe[bool] = NOT_COLLECTED
    mode: Maybe[str] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class PciGpu:
    """An NVIDIA display or 3D controller on the PCI bus, whether or not a driver holds it.

    `iommu`: none, or how the IOMMU treats it, in the kernel's words (identity, DMA, DMA-FQ).
    """

    address: str
    device_id: Maybe[str] = NOT_COLLECTED
    driver: Maybe[str] = NOT_COLLECTED
    runtime_status: Maybe[str] = NOT_COLLECTED
    iommu: Maybe[str] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class XidEvent:
    """One NVRM Xid line of the kernel log; `count` equal lines folded into one."""

    code: int
    pci: Maybe[str] = NOT_COLLECTED
    message: Maybe[str] = NOT_COLLECTED
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The kernel's side of the driver. `log_readable` False is said, never hidden.

    `profiling_open`: this process may read the GPU's performance counters.
    """

    module_version: Maybe[str] = NOT_COLLECTED
    module_loaded: Maybe[bool] = NOT_COLLECTED
    flavour: Maybe[ModuleFlavour] = NOT_COLLECTED
    nouveau_loaded: Maybe[bool] = NOT_COLLECTED
    uvm_loaded: Maybe[bool] = NOT_COLLECTED
    secure_boot: Maybe[bool] = NOT_COLLECTED
    module_on_disk: Maybe[bool] = NOT_COLLECTED
    device_nodes: Maybe[tuple[DeviceNode, ...]] = NOT_COLLECTED
    pci_gpus: Maybe[tuple[PciGpu, ...]] = NOT_COLLECTED
    xids: Maybe[tuple[XidEvent, ...]] = NOT_COLLECTED
    log_readable: Maybe[bool] = NOT_COLLECTED
    profiling_open: Maybe[bool] = NOT_COLLECTED
