"""What the children tell the screen: frozen, picklable, and each complete, so that a frame can be drawn from one of them.

Telling only what changed would make smaller messages; then a lost one, or a seek in a recording, would leave a wrong screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gpudoctor.model.gpu import Gpu, MigInstance
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import NOT_COLLECTED, Maybe

if TYPE_CHECKING:
    from gpudoctor.model.report import Report  # the sampler and --once have no report, and would pay for its import

LoadKind = Literal["compute", "graphics", "child"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """The host since the tick before. `core_percents`: each CPU; rates are bytes per second over all disks and links."""

    cpu_percent: Maybe[float] = NOT_COLLECTED
    core_percents: tuple[float, ...] = ()
    load_1_min: Maybe[float] = NOT_COLLECTED
    memory_used_bytes: Maybe[int] = NOT_COLLECTED
    memory_total_bytes: Maybe[int] = NOT_COLLECTED
    swap_used_bytes: Maybe[int] = NOT_COLLECTED
    swap_total_bytes: Maybe[int] = NOT_COLLECTED
    disk_read_bytes_per_s: Maybe[float] = NOT_COLLECTED
    disk_write_bytes_per_s: Maybe[float] = NOT_COLLECTED
    net_received_bytes_per_s: Maybe[float] = NOT_COLLECTED
    net_sent_bytes_per_s: Maybe[float] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLoad:
    """A process that holds a GPU, or a child of one (`gpus` is empty then)."""

    pid: int
    parent_pid: Maybe[int] = NOT_COLLECTED
    kind: LoadKind = "compute"
    gpus: tuple[int, ...] = ()
    gpu_memory_bytes: Maybe[int] = NOT_COLLECTED
    host_memory_bytes: Maybe[int] = NOT_COLLECTED
    cpu_percent: Maybe[float] = NOT_COLLECTED
    user: Maybe[str] = NOT_COLLECTED
    command: Maybe[str] = NOT_COLLECTED
    tensorflow: Maybe[bool] = NOT_COLLECTED
    own: Maybe[bool] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """PCIe throughput of one GPU over NVML's window of 20 ms."""

    received_bytes_per_s: Maybe[int] = NOT_COLLECTED
    sent_bytes_per_s: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One tick. `gpus_age_s`: how old the figures of the GPUs are; it grows while NVML does not answer.

    `at_s` is wall-clock time. `migs`: the MIG instances of a GPU that has them. `xids`: Xid errors of the kernel log by PCI address, newest last.
    """

    at_s: float
    nvml: Nvml = field(default_factory=Nvml)
    gpus: tuple[Gpu, ...] = ()
    gpus_age_s: float = 0.0
    traffic: Mapping[int, Traffic] = field(default_factory=dict[int, Traffic])
    migs: Mapping[int, tuple[MigInstance, ...]] = field(default_factory=dict[int, "tuple[MigInstance, ...]"])
    host: HostLoad = field(default_factory=HostLoad)
    processes: tuple[ProcessLoad, ...] = ()
    xids: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a scan is: a trial of several, or at the end the report with the pages of all checks, or why it failed."""

    trial: str = ""
    done: int = 0
    total: int = 0
    left_s: float = 0.0
    report: Report | None = None
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    failure: str = ""

    @property
    def ended(self) -> bool:
        """Return whether this is the last word."""
        return self.report is not None or bool(self.failure)
