"""GPUs, host and memories while the steady steps ran: means over that time, not over start-up, validation and shut-down.

What is held against the steps' own shares (processor time, a GPU's use) has to be of the same time: a validation that keeps the
GPU busy would hide that the steps starve.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from gpudoctor.knowledge import clock_events
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.run import GpuOverTime, MachineOverTime
from gpudoctor.model.session import GpuSample, HostSample, MemorySample, Session
from gpudoctor.model.trends import Memory, MemorySlope
from gpudoctor.profile.spans import Span, common, length, merged
from gpudoctor.profile.steps import Loop

UNTOLD = Missing("not sampled")
Sampled = TypeVar("Sampled", GpuSample, HostSample)
FEWEST_POINTS = 5  # policy: a line through fewer readings says nothing about growth


def machine_over_time(session: Session, loop: Loop) -> MachineOverTime | Missing:
    """Return what the parent sampled once a second."""
    start, end = loop.steady[0].start, loop.steady[-1].end
    spans = merged([(each.start, each.end) for each in loop.steady])
    gpus = [each for each in session.gpu_samples if start <= each.at <= end] or list(session.gpu_samples)
    hosts = [each for each in session.host_samples if start <= each.at <= end] or list(session.host_samples)
    if not gpus and not hosts:
        return Missing("the machine was not sampled while steps ran")
    steps = sum(each.steps for each in loop.steady)
    last = hosts[-1] if hosts else HostSample(at=0.0)
    return MachineOverTime(
        gpus=tuple(_gpu([each for each in gpus if each.gpu == index], spans, steps) for index in _indices(gpus)),
        nvml_status=either(session.nvml_status, "unknown"),
        cores=last.cores,
        quota_cores=last.quota_cores,
        cores_used=_rate(hosts, spans, lambda each: each.command_cpu_s),
        usable_cores=last.usable_cores,
        free_cores=_free_cores(hosts, spans),
        stopped_share=_rate(hosts, spans, lambda each: each.throttled_s),
        io_wait_share=_mean(_percent(each.io_wait_percent) for each in _while(spans, hosts)),
        read_bytes_per_s=_rate(hosts, spans, lambda each: each.command_read_bytes),
        memory_total_bytes=last.memory_total_bytes,
    )


def _while(spans: Sequence[Span], samples: Sequence[Sampled]) -> list[Sampled]:
    """Return the samples taken in these times; those up to their end, or all, where a run is too short for any."""
    inside = [each for each in samples if any(start <= each.at <= end for start, end in spans)]
    between = [each for each in samples if spans[0][0] <= each.at <= spans[-1][1]]
    return inside or between or list(samples)


def _free_cores(hosts: Sequence[HostSample], spans: Sequence[Span]) -> Maybe[float]:
    """Return the cores that nobody else used; the command's own time is in the host's busy time and counts as free."""
    busy = _mean(_percent(each.cpu_percent) for each in _while(spans, hosts))
    own = _rate(hosts, spans, lambda each: each.command_cpu_s)
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


def _rate(
    samples: Sequence[HostSample],
    spans: Sequence[Span],
    read: Callable[[HostSample], Maybe[float] | Maybe[int]],
) -> Maybe[float]:
    """Return the growth of a sum of the host's per second in these times."""
    return _growth([(each.at, value) for each in samples if not isinstance(value := read(each), Missing)], spans)


def _growth(points: Sequence[tuple[float, float]], spans: Sequence[Span]) -> Maybe[float]:
    """Return the growth of a sum, (moment, sum), per second in these times; of a second half in them half of its growth."""
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return UNTOLD
    seconds = growth = 0.0
    for (since, before), (until, after) in itertools.pairwise(points):
        inside = length(common([(since, until)], spans))
        seconds += inside
        growth += inside * (after - before) / (until - since) if until > since else 0.0
    if seconds <= 0:
        return max(0.0, (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0]))
    return max(0.0, growth / seconds)


def _gpu(samples: Sequence[GpuSample], spans: Sequence[Span], steps: int) -> GpuOverTime:
    """Return one GPU: means are of the steps, peaks of all that lies between the first and the last of them."""
    last, during = samples[-1], _while(spans, samples)
    known = [each for each in map(_harmful, during) if each is not None]
    joules, source = _energy(samples, spans, steps)
    return GpuOverTime(
        index=last.gpu,
        name=last.name,
        busy_share=_mean(_percent(each.gpu_percent) for each in during),
        memory_peak_bytes=_most([each.memory_used_bytes for each in samples]),
        memory_total_bytes=last.memory_total_bytes,
        power_w=_mean(each.power_w for each in during),
        power_limit_w=last.power_limit_w,
        temperature_c=_most([each.temperature_c for each in samples]),
        sm_mhz=_mean(each.sm_mhz for each in during),
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


def _energy(samples: Sequence[GpuSample], spans: Sequence[Span], steps: int) -> tuple[Maybe[float], str]:
    """Return joules for a step: NVML's counter (one that stands still is none), else mean power times time, else Missing."""
    seconds = length(spans)
    counted = [(each.at, each.energy_j) for each in samples if not isinstance(each.energy_j, Missing)]
    if steps <= 0 or seconds <= 0:
        return Missing("no steady step"), ""
    if len(counted) > 1 and counted[-1][1] > counted[0][1]:
        watts = _growth(counted, spans)
        return watts if isinstance(watts, Missing) else watts * seconds / steps, "NVML's energy counter"
    power = _mean(each.power_w for each in _while(spans, samples))
    if isinstance(power, Missing):
        return Missing("neither energy nor power is told"), ""
    return power * seconds / steps, "mean power"


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
