"""GPUs, host and memories while the steady steps ran: means over that time, not over start-up and shut-down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gpudoctor.knowledge import clock_events
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.run import GpuOverTime, MachineOverTime
from gpudoctor.model.session import GpuSample, HostSample, MemorySample, Session
from gpudoctor.model.trends import Memory, MemorySlope
from gpudoctor.profile.steps import Loop

UNTOLD = Missing("not sampled")
FEWEST_POINTS = 5  # policy: a line through fewer readings says nothing about growth


def machine_over_time(session: Session, loop: Loop) -> MachineOverTime | Missing:
    """Return what the parent sampled once a second."""
    start, end = loop.steady[0].start, loop.steady[-1].end
    gpus = [each for each in session.gpu_samples if start <= each.at <= end] or list(session.gpu_samples)
    hosts = [each for each in session.host_samples if start <= each.at <= end] or list(session.host_samples)
    if not gpus and not hosts:
        return Missing("the machine was not sampled while steps ran")
    steps = sum(each.steps for each in loop.steady)
    span = end - start
    last = hosts[-1] if hosts else HostSample(at=0.0)
    return MachineOverTime(
        gpus=tuple(_gpu(index, [each for each in gpus if each.gpu == index], steps, span) for index in _indices(gpus)),
        nvml_status=either(session.nvml_status, "unknown"),
        cores=last.cores,
        quota_cores=last.quota_cores,
        cores_used=_rate(hosts, lambda each: each.command_cpu_s),
        usable_cores=last.usable_cores,
        free_cores=_free_cores(hosts),
        stopped_share=_rate(hosts, lambda each: each.throttled_s),
        io_wait_share=_mean(_percent(each.io_wait_percent) for each in hosts),
        read_bytes_per_s=_rate(hosts, lambda each: each.command_read_bytes),
        memory_total_bytes=last.memory_total_bytes,
    )


def _free_cores(hosts: Sequence[HostSample]) -> Maybe[float]:
    """Return the cores that nobody else used; the command's own time is in the host's busy time and counts as free."""
    busy = _mean(_percent(each.cpu_percent) for each in hosts)
    own = _rate(hosts, lambda each: each.command_cpu_s)
    cores = hosts[-1].cores if hosts else UNTOLD
    if isinstance(busy, Missing) or isinstance(own, Missing) or isinstance(cores, Missing):
        return UNTOLD
    others = max(0.0, cores * busy - own)
    return min(cores - others, either(hosts[-1].usable_cores, cores), either(hosts[-1].quota_cores, cores))


def _indices(samples: Sequence[GpuSample]) -> list[int]:
    return sorted({each.gpu for each in samples})


def _percent(value: Maybe[float] | Maybe[int]) -> Maybe[float]:
    return value if isinstance(value, Missing) else value / 100


def _mean(values: Iterable[Maybe[float] | Maybe[int]]) -> Maybe[float]:
    known = [each for each in values if not isinstance(each, Missing)]
    return sum(known) / len(known) if known else UNTOLD


def _rate(samples: Sequence[HostSample], read: Callable[[HostSample], Maybe[float] | Maybe[int]]) -> Maybe[float]:
    """Return the growth of a sum per second."""
    points = [(each.at, value) for each in samples if not isinstance(value := read(each), Missing)]
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return UNTOLD
    return max(0.0, (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0]))


def _gpu(index: int, samples: Sequence[GpuSample], steps: int, span: float) -> GpuOverTime:
    last = samples[-1]
    known = [each for each in map(_harmful, samples) if each is not None]
    joules, source = _energy(samples, steps, span)
    return GpuOverTime(
        index=index,
        name=last.name,
        busy_share=_mean(_percent(each.gpu_percent) for each in samples),
        memory_peak_bytes=_most([each.memory_used_bytes for each in samples]),
        memory_total_bytes=last.memory_total_bytes,
        power_w=_mean(each.power_w for each in samples),
        power_limit_w=last.power_limit_w,
        temperature_c=_most([each.temperature_c for each in samples]),
        sm_mhz=_mean(each.sm_mhz for each in samples),
        sm_max_mhz=last.sm_max_mhz,
        throttled_share=sum(map(bool, known)) / len(known) if known else UNTOLD,
        throttle_reasons=tuple(dict.fromkeys(name for each in known for name in each)),
        own_processes=_most([each.own_processes for each in samples]),
        foreign_processes=_most([each.foreign_processes for each in samples]),
        joules_per_step=joules,
        energy_from=source,
    )


def _harmful(sample: GpuSample) -> tuple[str, ...] | None:
    """Return the reasons that are trouble (heat, power brake); a board at its own power limit is none."""
    if isinstance(sample.throttle_reasons, Missing):
        return None
    return tuple(name for name in sample.throttle_reasons if clock_events.severity(name) in {"critical", "thermal"})


def _most(values: Sequence[Maybe[int]]) -> Maybe[int]:
    known = [each for each in values if not isinstance(each, Missing)]
    return max(known) if known else UNTOLD


def _energy(samples: Sequence[GpuSample], steps: int, span: float) -> tuple[Maybe[float], str]:
    """Return joules for a step: NVML's counter (one that stands still is none), else mean power times time, else Missing."""
    counted = [(each.at, each.energy_j) for each in samples if not isinstance(each.energy_j, Missing)]
    if steps <= 0 or span <= 0:
        return Missing("no steady step"), ""
    if len(counted) > 1 and counted[-1][0] > counted[0][0] and counted[-1][1] > counted[0][1]:
        watts = (counted[-1][1] - counted[0][1]) / (counted[-1][0] - counted[0][0])
        return watts * span / steps, "NVML's energy counter"
    power = _mean(each.power_w for each in samples)
    if isinstance(power, Missing):
        return Missing("neither energy nor power is told"), ""
    return power * span / steps, "mean power"


def memory(session: Session, loop: Loop, process: str) -> Memory | Missing:
    """Return the growth of each memory over the steady steps."""
    start, end = loop.steady[0].start, loop.steady[-1].end
    steps = sum(each.steps for each in loop.steady)
    own = [each for each in session.memory if each.process == process]
    if not own:
        return Missing("memory was not sampled")
    slopes: list[MemorySlope] = []
    for device in dict.fromkeys(each.device for each in own):
        rows = [each for each in own if each.device == device]
        growth = _slope([each for each in rows if start <= each.at <= end])
        per_step = growth if isinstance(growth, Missing) else growth * (end - start) / max(1, steps)
        slopes.append(
            MemorySlope(
                device=device,
                last_bytes=rows[-1].current_bytes,
                peak_bytes=_most([each.peak_bytes for each in rows]),
                bytes_per_step=per_step,
            )
        )
    return Memory(slopes=tuple(slopes))


def _slope(samples: Sequence[MemorySample]) -> Maybe[float]:
    """Return the growth in bytes a second (least squares)."""
    if len(samples) < FEWEST_POINTS:
        return Missing("too few readings")
    middle_at = sum(each.at for each in samples) / len(samples)
    middle = sum(each.current_bytes for each in samples) / len(samples)
    spread = sum((each.at - middle_at) ** 2 for each in samples)
    if spread <= 0:
        return Missing("too few readings")
    return sum((each.at - middle_at) * (each.current_bytes - middle) for each in samples) / spread
