"""Where overhead ends and what a batch needs, computed from given times and peaks; no TensorFlow."""

from __future__ import annotations

import random

import pytest

from gpudoctor.cli.trial_names import TEXT
from gpudoctor.model.gpu import Gpu, Memory
from gpudoctor.probe import room
from gpudoctor.probe.child_ladder import LADDER, fit, knee, largest, memory
from gpudoctor.probe.plan import PLANS, at_level

GIB = 1 << 30
MIB = 1 << 20


def rounds(
    *, overhead_s: float, each_s: float, overlap: bool, noise: tuple[float, ...] = (1.0,) * 5
) -> list[dict[int, float]]:
    def step(size: int) -> float:
        return max(overhead_s, each_s * size) if overlap else overhead_s + each_s * size

    return [{size: step(size) * factor for size in LADDER} for factor in noise]


@pytest.mark.parametrize("overlap", [True, False])
def test_overhead_ends_where_the_work_takes_as_long_as_the_empty_step(overlap: bool) -> None:
    taken = rounds(overhead_s=0.001, each_s=1e-6, overlap=overlap)
    values = knee(taken, taken[0])
    assert values["half_batch"] == pytest.approx(1000, rel=0.05)
    assert values["knee_batch"] == 1024
    assert values["saturated"] == 1.0


def test_noise_widens_the_interval() -> None:
    steady = rounds(overhead_s=0.001, each_s=1e-6, overlap=True)
    shaken = [{**each, 32: each[32] * factor} for each, factor in zip(steady, (1, 2, 0.5, 3, 1), strict=True)]
    values = knee(shaken, steady[0])
    assert values["half_batch_high"] / values["half_batch_low"] > 2


def test_a_throughput_that_still_rises_is_told() -> None:
    taken = rounds(overhead_s=1.0, each_s=1e-6, overlap=True)
    assert knee(taken, taken[0])["saturated"] == 0.0


def test_without_rounds_there_is_no_interval_and_no_end() -> None:
    assert "half_batch" not in knee([], {32: 0.001, 64: 0.001})


def test_a_line_is_found_with_what_rises_above_it() -> None:
    line = fit({size: 2 * MIB + 6000 * size + (MIB if size == 4096 else 0) for size in LADDER[:8]})
    assert line is not None
    assert line.each == pytest.approx(6000, rel=0.05)
    assert 0 < line.excess_share < 0.05
    assert line.residual < MIB


@pytest.mark.parametrize("peaks", [{}, {32: 1, 64: 2}, {32: 9, 64: 9, 128: 9}])
def test_what_is_no_line_predicts_nothing(peaks: dict[int, int]) -> None:
    assert memory(peaks, GIB) == {}


def test_the_largest_batch_leaves_the_share_that_no_allocator_can_use() -> None:
    line = fit({size: 1000 * size for size in LADDER})
    assert line is not None
    assert largest(line, 100_000_000) == pytest.approx(90_000, abs=1)


def test_the_wider_the_peaks_scatter_the_smaller_is_the_batch_that_is_promised() -> None:
    told: list[int] = []
    for spread in (0.0, 0.02, 0.05):
        shaken = {
            size: round(MIB + 6000 * size * (1 + spread * (-1) ** place)) for place, size in enumerate(LADDER[:9])
        }
        line = fit(shaken)
        assert line is not None
        told.append(largest(line, 256 * MIB))
    assert told[2] < told[1] < told[0]


@pytest.mark.parametrize("seed", range(3))
def test_nineteen_of_twenty_promises_hold_with_peaks_that_scatter_by_a_tenth(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # repeatable noise

    def peak(size: int) -> int:
        return round(2 * MIB + 6000 * size * draw.uniform(0.9, 1.1))

    held = 0
    for _ in range(200):
        line = fit({size: peak(size) for size in LADDER[:9]})
        held += line is None or peak(largest(line, 256 * MIB)) <= 256 * MIB
    assert held >= 190


def test_free_memory_counts_less_the_reserve_of_tensorflow() -> None:
    ladder = {"memory_fixed_bytes": 0.0, "memory_per_example_bytes": 1000.0}
    gpu = Gpu(index=0, compute_capability="8.0", memory=Memory(total_bytes=40 * GIB, free_bytes=40 * GIB))
    told = room.figures(ladder, gpu)
    assert told["free_bytes"] == 40 * GIB
    assert told["largest_batch_in_free"] < 0.9 * 40 * GIB / 1000
    assert room.figures(ladder, Gpu(index=0)) == {}
    assert room.figures({}, gpu) == {}


def test_the_help_names_each_trial_at_its_level() -> None:
    standard, _, full = TEXT.partition("Level full adds:")
    for plan in PLANS:
        assert plan.name in (full if plan.level == "full" else standard)
    assert set(at_level("full")) - set(at_level("standard")) == {"replicas"}
