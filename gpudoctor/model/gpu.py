"""Facts about one GPU, field by field as NVML names them; each field stands or is missing on its own."""

from __future__ import annotations

from dataclasses import field

from gpudoctor.model.missing import NOT_COLLECTED, Maybe
from gpudoctor.model.record import dataclass
from gpudoctor.model.words import ComputeMode, HolderKind, MigMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Device memory. `reserved_bytes` (driver, firmware) is part of neither used nor free."""

    total_bytes: Maybe[int] = NOT_COLLECTED
    used_bytes: Maybe[int] = NOT_COLLECTED
    free_bytes: Maybe[int] = NOT_COLLECTED
    reserved_bytes: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilization:
    """`gpu_percent`: share of the last sample period in which a kernel ran; not occupancy, not efficiency."""

    gpu_percent: Maybe[int] = NOT_COLLECTED
    memory_percent: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """`limit_w` is the enforced limit; `default_limit_w` the board's own."""

    draw_w: Maybe[float] = NOT_COLLECTED
    limit_w: Maybe[float] = NOT_COLLECTED
    default_limit_w: Maybe[float] = NOT_COLLECTED
    max_limit_w: Maybe[float] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Current and highest clocks."""

    sm_mhz: Maybe[int] = NOT_COLLECTED
    sm_max_mhz: Maybe[int] = NOT_COLLECTED
    memory_mhz: Maybe[int] = NOT_COLLECTED
    memory_max_mhz: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Pcie:
    """The link now and at most; the generation drops at idle by design."""

    gen: Maybe[int] = NOT_COLLECTED
    gen_max: Maybe[int] = NOT_COLLECTED
    width: Maybe[int] = NOT_COLLECTED
    width_max: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSample:
    """One look at a GPU's PCIe link, with what it received just then (NVML counts over 20 ms)."""

    link: Pcie
    received_bytes_per_s: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecc:
    """Error correction: volatile counts since the driver was loaded, and pages or rows taken out of service."""

    enabled: Maybe[bool] = NOT_COLLECTED
    corrected: Maybe[int] = NOT_COLLECTED
    uncorrected: Maybe[int] = NOT_COLLECTED
    retired_pages: Maybe[int] = NOT_COLLECTED
    remapped_rows: Maybe[int] = NOT_COLLECTED
    remap_pending: Maybe[bool] = NOT_COLLECTED
    remap_failed: Maybe[bool] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """A process that holds the GPU. `own`: it belongs to this user.

    `notebook`: it is the kernel of a notebook; looked at for this user's own processes only.
    """

    pid: int
    kind: HolderKind
    memory_bytes: Maybe[int] = NOT_COLLECTED
    name: Maybe[str] = NOT_COLLECTED
    user: Maybe[str] = NOT_COLLECTED
    command: Maybe[str] = NOT_COLLECTED
    own: Maybe[bool] = NOT_COLLECTED
    notebook: Maybe[bool] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class MigInstance:
    """A part of a GPU that MIG made a device of its own. `place`: its number on the GPU; `profile`: 1g.10gb, say."""

    place: int
    profile: Maybe[str] = NOT_COLLECTED
    gpu_instance: Maybe[int] = NOT_COLLECTED
    compute_instance: Maybe[int] = NOT_COLLECTED
    memory: Memory = field(default_factory=Memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One physical GPU in NVML order. `status`: ok, gpu_lost, reset_required, or the NVML error's status word.

    Further status words: timeout or crashed where reading it did not end, not_read where that left no time for it.
    `throttle_reasons` holds NVML's clock-event names (GpuIdle, SwPowerCap, HwThermalSlowdown ...), without the prefix.
    """

    index: int
    status: str = "ok"
    name: Maybe[str] = NOT_COLLECTED
    uuid: Maybe[str] = NOT_COLLECTED
    serial: Maybe[str] = NOT_COLLECTED
    pci: Maybe[str] = NOT_COLLECTED
    compute_capability: Maybe[str] = NOT_COLLECTED
    memory: Memory = field(default_factory=Memory)
    utilization: Utilization = field(default_factory=Utilization)
    power: Power = field(default_factory=Power)
    temperature_c: Maybe[int] = NOT_COLLECTED
    temperature_slowdown_c: Maybe[int] = NOT_COLLECTED
    fan_percent: Maybe[int] = NOT_COLLECTED
    performance_state: Maybe[int] = NOT_COLLECTED
    clocks: Clocks = field(default_factory=Clocks)
    throttle_reasons: Maybe[tuple[str, ...]] = NOT_COLLECTED
    pcie: Pcie = field(default_factory=Pcie)
    ecc: Ecc = field(default_factory=Ecc)
    mig_mode: Maybe[MigMode] = NOT_COLLECTED
    mig_instances: Maybe[int] = NOT_COLLECTED
    compute_mode: Maybe[ComputeMode] = NOT_COLLECTED
    persistence: Maybe[bool] = NOT_COLLECTED
    display_active: Maybe[bool] = NOT_COLLECTED
    processes: Maybe[tuple[GpuProcess, ...]] = NOT_COLLECTED
