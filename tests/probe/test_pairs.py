"""Pairs and their interval: right quantiles, right coverage, honest claims."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from gpudoctor.probe.child_pairs import FEWEST_PAIRS, compare, interleave, interval, t_95

BAR = 1.02  # a gain counts when its whole interval lies above


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.7062), (4, 2.7764), (9, 2.2622), (19, 2.0930), (30, 2.0423), (40, 2.0211), (60, 2.0003), (120, 1.9799)],
)
def test_quantiles_are_those_of_the_printed_tables(degrees: int, quantile: float) -> None:
    assert t_95(degrees) == pytest.approx(quantile, abs=0.001)


def test_no_degree_of_freedom_gives_no_interval() -> None:
    assert t_95(0) == math.inf
    speedup, low, high = interval([1.3])
    assert speedup == pytest.approx(1.3)
    assert (low, high) == (0.0, math.inf)


def test_interval_of_known_values_is_the_hand_computed_one() -> None:
    # logs 0.1 ... 0.5: mean 0.3, sd 0.158114, t(4) 2.776, half 2.776 * 0.158114 / sqrt(5) = 0.196293
    speedup, low, high = interval([math.exp(each / 10) for each in range(1, 6)])
    assert math.log(speedup) == pytest.approx(0.3)
    assert math.log(low) == pytest.approx(0.3 - 0.196293, abs=1e-4)
    assert math.log(high) == pytest.approx(0.3 + 0.196293, abs=1e-4)


@pytest.mark.parametrize("pairs", [5, 7, 20])
def test_interval_covers_the_truth_in_95_of_100_runs(pairs: int) -> None:
    draw = random.Random(pairs)  # noqa: S311  # a simulation
    runs, truth = 4000, math.log(1.3)
    inside = 0
    for _ in range(runs):
        _, low, high = interval([math.exp(draw.gauss(truth, 0.15)) for _ in range(pairs)])
        inside += low <= 1.3 <= high
    assert inside / runs == pytest.approx(0.95, abs=0.012)  # three standard errors of 4000 runs


@pytest.mark.parametrize("pairs", [5, 7, 20])
def test_two_equal_arms_hardly_ever_look_like_a_gain(pairs: int) -> None:
    draw = random.Random(pairs)  # noqa: S311  # a simulation
    claims = sum(interval([math.exp(draw.gauss(0, 0.15)) for _ in range(pairs)])[1] > BAR for _ in range(2000))
    assert claims / 2000 < 0.03  # one-sided 2.5 %, and the bar takes from that


def test_a_real_gain_is_found_with_seven_pairs() -> None:
    draw = random.Random(7)  # noqa: S311  # a simulation
    found = sum(interval([math.exp(draw.gauss(math.log(1.5), 0.15)) for _ in range(7)])[1] > BAR for _ in range(500))
    assert found / 500 > 0.95


def test_speedup_is_above_one_when_the_arm_is_faster() -> None:
    told = compare("quick", "slow", {"slow": [2.0, 2.2, 1.8], "quick": [1.0, 1.1, 0.9]})
    assert told["speedup"] == pytest.approx(2.0)
    assert (told["arm"], told["against"], told["pairs"]) == ("quick", "slow", 3)


def test_arms_take_turns_and_the_warm_up_is_dropped() -> None:
    order: list[str] = []
    count = itertools.count()

    def window(name: str) -> float:
        order.append(name)
        return float(next(count))

    times = interleave({"a": lambda: window("a"), "b": lambda: window("b")}, pairs=3)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"
    assert times == {"a": [2.0, 5.0, 6.0], "b": [3.0, 4.0, 7.0]}


def test_rounds_end_when_the_time_is_over() -> None:
    times = interleave({"a": lambda: 1.0, "b": lambda: 1.0}, pairs=50, left_s=lambda: 0.0)
    assert len(times["a"]) == 1
    assert FEWEST_PAIRS > 1  # so such a trial is inconclusive
