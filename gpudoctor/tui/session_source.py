"""A finished run as a recording for the machine view: the GPUs and the host as the wrapper sampled them beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from gpudoctor.model.gpu import Clocks, Gpu, Memory, Power, Utilization
from gpudoctor.model.machine import Nvml
from gpudoctor.model.session import GpuSample, HostSample
from gpudoctor.tui.messages import HostLoad, Reading
from gpudoctor.tui.run_news import Recorded
from gpudoctor.tui.sources import Recording

FEWEST, MOST_READINGS = 2, 1800  # as the reader thins them
T = TypeVar("T")


def recording_of(recorded: Recorded) -> Recording:
    """Return the run's machine as something to play: it stays at its end, for there is the answer."""
    step_s = max(1.0, recorded.length_s / MOST_READINGS)
    return Recording(Readings(recorded, step_s), name="SESSION", step_s=step_s, again=False)


class Readings(Sequence[Reading]):
    """Readings made when they are asked for: a long run of many GPUs would fill the memory with them."""

    def __init__(self, recorded: Recorded, step_s: float) -> None:
        self._recorded, self._step_s = recorded, step_s
        self._gpus: dict[int, dict[int, GpuSample]] = {}
        for each in recorded.gpus:
            self._gpus.setdefault(self._place(each.at), {})[each.gpu] = each
        self._hosts = {self._place(each.at): each for each in recorded.hosts}
        self._count = max(FEWEST, int(recorded.length_s / step_s) + 1)

    def _place(self, at_s: float) -> int:
        return int((at_s - self._recorded.begun_s) / self._step_s)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Reading: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Reading]: ...
    def __getitem__(self, index: int | slice) -> Reading | Sequence[Reading]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        gpus = _near(self._gpus, index) or {}
        host = _near(self._hosts, index)
        return Reading(
            at_s=self._recorded.begun_s + index * self._step_s,
            nvml=Nvml(status=self._recorded.nvml_status),
            gpus=tuple(_gpu(gpus[each]) for each in sorted(gpus)),
            host=HostLoad() if host is None else _host(host),
        )


def _gpu(sample: GpuSample) -> Gpu:
    return Gpu(
        index=sample.gpu,
        name=sample.name,
        status=sample.status,
        utilization=Utilization(gpu_percent=sample.gpu_percent, memory_percent=sample.memory_percent),
        memory=Memory(total_bytes=sample.memory_total_bytes, used_bytes=sample.memory_used_bytes),
        power=Power(draw_w=sample.power_w, limit_w=sample.power_limit_w),
        temperature_c=sample.temperature_c,
        clocks=Clocks(sm_mhz=sample.sm_mhz, sm_max_mhz=sample.sm_max_mhz),
        throttle_reasons=sample.throttle_reasons,
    )


def _host(sample: HostSample) -> HostLoad:
    return HostLoad(
        cpu_percent=sample.cpu_percent,
        memory_used_bytes=sample.memory_used_bytes,
        memory_total_bytes=sample.memory_total_bytes,
    )


def _near(table: dict[int, T], index: int) -> T | None:
    """Return what was sampled then, or just before: samples are not taken on whole seconds."""
    return next((table[at] for at in (index, index - 1, index - 2) if at in table), None)
