"""A run's steps over time, as columns of a plot: how many each second, and where a mean step's time went.

Only the wait and the GPU are known second by second; the user's Python is sampled over the run and spread evenly. Leaving it
out of the columns would show its time as TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.run import Breakdown
from gpudoctor.model.session import GpuSample
from gpudoctor.profile.steps import Stretch
from gpudoctor.tui.run_news import Column

SMOOTHED_S = 10.0  # policy, see `_busy`


@dataclass(slots=True)
class _Sums:
    steps: float = 0.0
    seconds: float = 0.0
    wait_s: float = 0.0


def time_line(
    stretches: Sequence[Stretch],
    gpus: Sequence[GpuSample],
    shares: Breakdown | None,
    *,
    until_s: float,
    span_s: int,
    count: int,
) -> tuple[Column | None, ...]:
    """Return `count` columns over the span that ends at `until_s`, oldest first.

    Columns stand on whole multiples of their length, so that the plot moves by whole columns.
    """
    length = span_s / max(1, count)
    newest = int(until_s / length)
    first = newest - count + 1
    sums = [_Sums() for _ in range(count)]
    for each in stretches:
        _share_out(each, sums, first, length)
    busy = _busy(gpus, first, length, count)
    return tuple(_column(told, at_work, shares) for told, at_work in zip(sums, busy, strict=True))


def _share_out(stretch: Stretch, sums: list[_Sums], first: int, length: float) -> None:
    """Add a stretch to the columns it lies in, by time."""
    if stretch.span_s <= 0:
        return
    begin, end = stretch.start / length - first, stretch.end / length - first
    for place in range(max(0, int(begin)), min(len(sums) - 1, int(end)) + 1 if end >= 0 else 0):
        inside = max(0.0, min(end, place + 1) - max(begin, place)) / (end - begin)
        told = sums[place]
        told.steps += stretch.steps * inside
        told.seconds += stretch.span_s * inside
        told.wait_s += stretch.wait_s * inside


def _busy(gpus: Sequence[GpuSample], first: int, length: float, count: int) -> list[float | None]:
    """Return the busiest GPU's mean share at work around each column, None where no GPU was seen.

    NVML's figure is of a fraction of a second; over less than `SMOOTHED_S` it says more of the moment than of the steps.
    """
    reach = int(SMOOTHED_S / length / 2)
    sums: list[dict[int, tuple[int, int]]] = [{} for _ in range(count + 2 * reach)]
    for each in gpus:
        place = int(each.at / length) - first + reach
        if 0 <= place < len(sums) and not isinstance(each.gpu_percent, Missing) and either(each.own_processes, 1):
            total, number = sums[place].get(each.gpu, (0, 0))
            sums[place][each.gpu] = (total + each.gpu_percent, number + 1)
    return [_busiest(sums[at : at + 2 * reach + 1]) for at in range(count)]


def _busiest(sums: Sequence[dict[int, tuple[int, int]]]) -> float | None:
    totals: dict[int, tuple[int, int]] = {}
    for told in sums:
        for gpu, (total, number) in told.items():
            before = totals.get(gpu, (0, 0))
            totals[gpu] = (before[0] + total, before[1] + number)
    return max((total / number / 100 for total, number in totals.values()), default=None)


def _column(told: _Sums, at_work: float | None, shares: Breakdown | None) -> Column | None:
    if told.seconds <= 0 or told.steps <= 0:
        return None
    step = told.seconds / told.steps
    waiting = min(1.0, told.wait_s / told.seconds)
    if at_work is not None:
        waiting = min(waiting, 1 - at_work)  # a wait beside device work starves nothing, as in profile.breakdown
    rest = 1 - waiting
    host = min(rest, _known(shares.host) if shares is not None else 0.0)
    device = min(rest - host, at_work or 0.0)
    return Column(
        steps_per_s=told.steps / told.seconds,
        input=waiting * step,
        device=device * step,
        host=host * step,
        other=max(0.0, rest - host - device) * step,
    )


def _known(value: Maybe[float]) -> float:
    return either(value, 0.0)
