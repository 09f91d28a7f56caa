"""The last hour of each GPU in rings of fixed size: what a long watch may cost in memory is settled when it begins."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import isnan, nan
from typing import NamedTuple

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Maybe, Missing

SPANS_S = (60, 300, 900, 3600)
SLOTS = 3600  # one a second: an hour
SERIES = ("kernel", "memory", "power", "temperature")


class Limits(NamedTuple):
    """Where the axes of a GPU's plots end."""

    power_w: Maybe[float]
    memory_bytes: Maybe[int]
    slowdown_c: Maybe[int]


class History:
    """Figures by GPU, series and second."""

    def __init__(self) -> None:
        self._rings: dict[int, dict[str, array[float]]] = {}
        self._last: int | None = None
        self._limits: dict[int, Limits] = {}

    def add(self, at_s: float, gpus: Iterable[Gpu]) -> None:
        """Put the figures of one tick in; seconds that were skipped keep the last figure up to `GAP_S`."""
        second = int(at_s)
        before = self._last
        if before is not None and second < before:
            self._rings.clear()
            before = None
        skipped = range(0) if before is None else range(max(before + 1, second - SLOTS + 1), second)
        for gpu in gpus:
            self._limits[gpu.index] = self.limits(gpu)
            rings = self._rings.get(gpu.index)
            if rings is None:
                rings = self._rings[gpu.index] = {name: array("f", [nan]) * SLOTS for name in SERIES}
            for name, value in _figures(gpu).items():
                ring = rings[name]
                for hole in skipped:
                    ring[hole % SLOTS] = ring[before % SLOTS] if before is not None and len(skipped) < GAP_S else nan
                ring[second % SLOTS] = value
        self._last = second

    def limits(self, gpu: Gpu) -> Limits:
        """Return what the GPU tells of its limits, and what it told last where it tells nothing: a lost one keeps its axes."""
        told = Limits(gpu.power.limit_w, gpu.memory.total_bytes, gpu.temperature_slowdown_c)
        before = self._limits.get(gpu.index, told)
        return Limits(
            power_w=before.power_w if isinstance(told.power_w, Missing) else told.power_w,
            memory_bytes=before.memory_bytes if isinstance(told.memory_bytes, Missing) else told.memory_bytes,
            slowdown_c=before.slowdown_c if isinstance(told.slowdown_c, Missing) else told.slowdown_c,
        )

    def columns(self, gpu: int, series: str, span_s: int, count: int) -> list[float | None]:
        """Return `count` means over the span, oldest first; None where nothing is known.

        Buckets stand on whole multiples of their length, so that a plot moves by whole columns and does not flicker.
        """
        rings = self._rings.get(gpu)
        if rings is None or self._last is None or count < 1:
            return [None] * max(count, 0)
        ring, step = rings[series], max(1.0, span_s / count)
        newest = int(self._last / step)
        return [
            _mean(ring, self._last, int(at * step), int((at + 1) * step))
            for at in range(newest - count + 1, newest + 1)
        ]


GAP_S = 10  # policy: a longer silence is shown as a hole, not as a straight line


def _figures(gpu: Gpu) -> dict[str, float]:
    return {
        "kernel": _number(gpu.utilization.gpu_percent),
        "memory": _number(gpu.memory.used_bytes),
        "power": _number(gpu.power.draw_w),
        "temperature": _number(gpu.temperature_c),
    }


def _number(value: Maybe[int] | Maybe[float]) -> float:
    return nan if isinstance(value, Missing) else float(value)


def _mean(ring: array[float], last: int, begin: int, end: int) -> float | None:
    first = max(begin, last - SLOTS + 1, 0)
    known = [value for at in range(first, min(end, last + 1)) if not isnan(value := ring[at % SLOTS])]
    return sum(known) / len(known) if known else None
