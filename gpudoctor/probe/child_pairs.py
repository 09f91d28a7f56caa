"""Interleaved timing of two or more arms, and the 95 % t-interval of the mean log-ratio of their pairs.

Pairs lie side by side in time so that a slow spell of the machine hits both arms; the order turns round in every second
round so that drift cancels. A bootstrap is over-confident at five pairs and a sign test can never claim there, hence
the t-interval. Runs under the target interpreter: Python 3.8, standard library only.
"""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Sequence

Window = Callable[[], float]  # runs some steps, waits for the device, returns seconds a step

FEWEST_PAIRS = 5  # below that a t-interval of this machine's noise is wider than any gain worth telling
PAIRS = 7
PAIRS_FULL = 20  # measured: at a spread of 0.15 a gain of 1.15 is found in 92 % of runs of 20 pairs, 46 % of 8

# Two-sided 95 % quantiles of Student's t for 1-30 degrees of freedom (any statistics table, e.g. NIST/SEMATECH
# e-Handbook of Statistical Methods, 1.3.6.7.2).
T_95: tuple[float, ...] = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
NORMAL_95 = 1.959964


def t_95(degrees: int) -> float:
    """Return the two-sided 95 % quantile of Student's t."""
    if degrees < 1:
        return math.inf
    if degrees <= len(T_95):
        return T_95[degrees - 1]
    z = NORMAL_95  # the expansion of Abramowitz and Stegun, 26.7.5, first two terms: exact to 0.001 from 30 on
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of the ratios and its 95 % t-interval."""
    logs = [math.log(ratio) for ratio in ratios]
    count = len(logs)
    mean = sum(logs) / count
    if count == 1:
        return math.exp(mean), 0.0, math.inf
    spread = math.sqrt(sum((each - mean) ** 2 for each in logs) / (count - 1))
    half = t_95(count - 1) * spread / math.sqrt(count)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def compare(arm: str, against: str, times: dict[str, list[float]]) -> dict[str, Any]:
    """Return the speed-up of one arm over another: above 1 it is faster."""
    ratios = [slow / fast for slow, fast in zip(times[against], times[arm]) if slow > 0 and fast > 0]
    speedup, low, high = interval(ratios)
    return {"arm": arm, "against": against, "pairs": len(ratios), "speedup": speedup, "low": low, "high": high}


def interleave(
    arms: dict[str, Window],
    *,
    pairs: int = PAIRS,
    left_s: Callable[[], float] = lambda: math.inf,
    advance: Callable[[float], None] = lambda _: None,
) -> dict[str, list[float]]:
    """Run one window of every arm and drop it (warm-up), then rounds of all arms; return the times of each arm.

    Ends early, with fewer rounds, when the time left would not hold another one.
    """
    for window in arms.values():
        window()
    times: dict[str, list[float]] = {name: [] for name in arms}
    for done in range(pairs):
        begun = time.monotonic()
        names = list(arms) if done % 2 == 0 else list(reversed(list(arms)))
        for name in names:
            times[name].append(arms[name]())
        advance((done + 1) / pairs)
        if left_s() < 2 * (time.monotonic() - begun):
            break
    return times


def mean(times: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return sum(times) / len(times)
