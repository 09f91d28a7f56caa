"""NVML in a thread of the sampler: when a call never returns, the figures grow old and the host's go on.

PCIe throughput blocks for 20 ms a call, so only a few GPUs are asked after each tick, in turn.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from gpudoctor.collect.nvml import Session, Unusable, open_session
from gpudoctor.model.gpu import Gpu, GpuProcess, MigInstance
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.words import HolderKind
from gpudoctor.tui.messages import Traffic

# Policy: ECC counts, limits, modes and the number of GPUs change by a fault or a command, so a few seconds late is early enough.
SLOW_EVERY_TICKS = 5
TRAFFIC_GPUS_A_TICK = 2  # 4 calls of 20 ms
KIB_PER_S = 1024  # the unit of nvmlDeviceGetPcieThroughput


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFigures:
    """What NVML told last, and when (monotonic)."""

    nvml: Nvml = field(default_factory=Nvml)
    gpus: tuple[Gpu, ...] = ()
    traffic: Mapping[int, Traffic] = field(default_factory=dict[int, Traffic])
    migs: Mapping[int, tuple[MigInstance, ...]] = field(default_factory=dict[int, "tuple[MigInstance, ...]"])
    at: float = 0.0


class GpuSource(threading.Thread):
    """Asks NVML at each `ask`; `latest` is replaced as a whole, so it needs no lock."""

    def __init__(self, root: Path, *, delay_s: float = 0.0) -> None:
        super().__init__(daemon=True)
        self._root, self._delay_s = root, delay_s
        self._wanted, self._done = threading.Event(), threading.Event()
        self._ticks = 0
        self._traffic: dict[int, Traffic] = {}
        self.latest = GpuFigures(at=monotonic())

    def ask(self, wait_s: float) -> GpuFigures:
        """Ask for fresh figures; return them, or after `wait_s` the last ones."""
        self._done.clear()
        self._wanted.set()
        self._done.wait(wait_s)
        return self.latest

    def run(self) -> None:
        """Open NVML and answer until the process ends."""
        sleep(self._delay_s)
        try:
            session = open_session(self._root, _by_pid_only)
        except Unusable as unusable:
            self._refuse(Nvml(status=unusable.status, message=unusable.message))
            return
        gpus: tuple[Gpu, ...] = ()
        nvml = session.system()
        while True:
            slow = self._ticks % SLOW_EVERY_TICKS == 0
            if slow:
                nvml = session.system()
            gpus = _sample(session, nvml, gpus, slow=slow)
            self._ticks += 1
            migs = {each.index: session.mig_instances(each.index) for each in gpus if each.mig_mode == "enabled"}
            self._tell(GpuFigures(nvml=nvml, gpus=gpus, traffic=dict(self._traffic), migs=migs, at=monotonic()))
            self._ask_traffic(session, gpus)
            self._wait()

    def _refuse(self, nvml: Nvml) -> None:
        while True:
            self._tell(GpuFigures(nvml=nvml, at=monotonic()))
            self._wait()

    def _tell(self, figures: GpuFigures) -> None:
        self.latest = figures
        self._done.set()

    def _wait(self) -> None:
        self._wanted.wait()
        self._wanted.clear()

    def _ask_traffic(self, session: Session, gpus: tuple[Gpu, ...]) -> None:
        for turn in range(min(TRAFFIC_GPUS_A_TICK, len(gpus))):
            index = (self._ticks * TRAFFIC_GPUS_A_TICK + turn) % len(gpus)
            received, sent = session.pcie_throughput(index)
            self._traffic[index] = Traffic(
                received_bytes_per_s=received if isinstance(received, Missing) else received * KIB_PER_S,
                sent_bytes_per_s=sent if isinstance(sent, Missing) else sent * KIB_PER_S,
            )


def _by_pid_only(pid: int, kind: HolderKind, memory_bytes: Maybe[int]) -> GpuProcess:
    """Leave who it is to the process table, which knows when a pid changes hands."""
    return GpuProcess(pid=pid, kind=kind, memory_bytes=memory_bytes)


def _sample(session: Session, nvml: Nvml, last: tuple[Gpu, ...], *, slow: bool) -> tuple[Gpu, ...]:
    count = nvml.device_count
    if isinstance(count, Missing):
        return last
    if count != len(last):
        return tuple(session.sample(session.identify(index)) for index in range(count))
    return tuple(session.sample(gpu) if slow else session.sample_moving(gpu) for gpu in last)
