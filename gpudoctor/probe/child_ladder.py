"""The `batch_ladder` trial: throughput and memory against batch, where overhead ends, and the largest batch that fits.

Where overhead ends is Hockney's half-performance length n_1/2 (R. W. Hockney, C. R. Jesshope, Parallel Computers 2, 1988,
section 1.3), taken without a model of the steps between: the step time of the smallest batch times the best throughput. So
many examples of pure work take as long as a step with next to none; twice as many are near the best throughput whether
work and overhead follow each other (CPU) or overlap (GPU). Every round over the ladder gives one such figure, and their
interval tells whether the machine was quiet enough.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import gc
import math
import time
from typing import Any, NamedTuple, Sequence

from .child_bench import Bench, Json, arm, first_line, result
from .child_network import SIDE, Network, images
from .child_pairs import FEWEST_PAIRS, interval, t_95
from .child_shortage import is_shortage

LADDER = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
LADDER_ON_CPU = 4096  # a CPU saturates far below (measured: two cores by 1024), larger steps only take time
CLIMB_WINDOWS = 2  # the better counts: a throughput is lowered by other load, never raised
CLIMB_WINDOW_S = 0.05
ROUND_WINDOW_S = 0.04
ROUNDS = FEWEST_PAIRS
ROUNDS_FULL = 12
OVER_THE_TOP = 2  # so many doublings without a new best end the climb
STILL_RISING = math.sqrt(
    2
)  # a last doubling that gives more is nearer to "free" than to "no gain": the best is not reached
PEAK_STEPS = 5  # measured: the peak of single steps differs by up to a fifth, of five together by a few percent
MEMORY_SHARE = (
    0.2  # of the pool: up to there peaks are measured. Measured: a line from under 0.02 of it was off by a fifth
)
LEFT_FOR_ROUNDS_S = 20.0
# The peak of a step depends on which ops run at once: measured 5.3 to 6.6 KB an example at one batch size.
UPPER_END = 3
FEWEST_RUNGS = 3  # a straight line through two points leaves no residual to judge it by
# Of a pool: what tensors can really take; the allocator rounds sizes up and cannot use every gap. Measured with 256 MiB on
# the CPU, TensorFlow 2.21: batches of up to 42,000 fit, 44,000 and more do not; with this share the line says 37,000.
USABLE_SHARE = 0.9


class Line(NamedTuple):
    """bytes = fixed + each x batch. `residual`: the largest distance of a measured peak from it, in bytes.

    `excess_share`: by what part of the line the peaks of its upper end rise above it: what a larger batch may need on top.
    `fixed_high`, `each_high`: the line above which no peak of a larger batch lies, as far as scatter and excess tell: the
    one upper bound of all predictions.
    """

    fixed: float
    each: float
    residual: float
    excess_share: float
    fixed_high: float
    each_high: float


def batch_ladder(bench: Bench) -> Json:
    """Climb in powers of two until the throughput stops rising or memory ends; then time all rungs in rounds."""
    network = Network(bench)
    sizes = [size for size in LADDER if bench.device == "GPU" or size <= LADDER_ON_CPU]
    rungs, notes, full_at = _climb(bench, network, sizes)
    if rungs and not full_at:
        full_at = _climb_on(bench, network, rungs, notes)
    timed = [size for size, rung in rungs.items() if rung.seconds]
    rounds = _rounds(bench, network, rungs, timed)
    best = {size: min(rungs[size].seconds) for size in timed}
    peaks = {size: rung.peak for size, rung in rungs.items() if rung.peak is not None}
    values = {**knee(rounds, best), **memory(peaks, bench.pool_bytes())}
    if "memory_fixed_bytes" in values:
        values["weights_bytes"] = 4.0 * network.model.count_params()
    if full_at:
        values["full_at_batch"] = full_at
    arms = [
        arm(str(size), steps=rung.steps, step_s=best.get(size), batch=size, peak_bytes=rung.peak)
        for size, rung in rungs.items()
    ]
    status = "ok" if rungs else "oom"
    return result(bench, status=status, reason="" if rungs else notes[0], arms=arms, values=values, notes=notes)


class Rung:
    """What was measured with one batch size."""

    def __init__(self) -> None:
        self.steps = 0
        self.seconds: list[float] = []
        self.peak: int | None = None


def _climb(bench: Bench, network: Network, sizes: Sequence[int]) -> tuple[dict[int, Rung], list[str], int]:
    """Return the rungs, and the batch that did not fit (0: none)."""
    rungs: dict[int, Rung] = {}
    for done, size in enumerate(sizes):
        rung = Rung()
        try:
            fixed = _on_device(bench, size)
            _measure_peak(bench, network, fixed, rung)
            for _ in range(CLIMB_WINDOWS):
                _window(network, fixed, CLIMB_WINDOW_S, rung)
        except bench.tf.errors.OpError as error:
            if not is_shortage(error):
                raise
            return rungs, [_does_not_fit(size, error)], size
        rungs[size] = rung
        bench.advance((done + 1) / len(sizes) / 2)
        if _is_over_the_top(rungs) or bench.left_s() < 10 * len(rungs) * CLIMB_WINDOW_S:
            break
    return rungs, [], 0


def _climb_on(bench: Bench, network: Network, rungs: dict[int, Rung], notes: list[str]) -> int:
    """Climb on for the memory alone, so that the line need not be drawn far beyond what was measured."""
    pool, size = bench.pool_bytes(), max(rungs)
    while pool and (rungs[size].peak or pool) < MEMORY_SHARE * pool and bench.left_s() > LEFT_FOR_ROUNDS_S:
        size *= 2
        rung = Rung()
        try:
            tf = bench.tf
            _measure_peak(bench, network, (tf.zeros([size, SIDE, SIDE], tf.uint8), tf.zeros([size], tf.int32)), rung)
        except bench.tf.errors.OpError as error:
            if not is_shortage(error):
                raise
            notes.append(_does_not_fit(size, error))
            return size
        rungs[size] = rung
    return 0


def _does_not_fit(size: int, error: BaseException) -> str:
    return f"batch {size} does not fit into the probe's memory cap: {first_line(error)}"


def _measure_peak(bench: Bench, network: Network, fixed: tuple[Any, Any], rung: Rung) -> None:
    gc.collect()  # the last rung's tensors would count as this one's
    bench.reset_peak()
    for _ in range(PEAK_STEPS):
        float(network.step(*fixed))
    rung.steps += PEAK_STEPS
    rung.peak = bench.peak_bytes()


def _on_device(bench: Bench, size: int) -> tuple[Any, Any]:
    pictures, labels = images(bench)
    return bench.tf.constant(pictures[:size]), bench.tf.constant(labels[:size])


def _window(network: Network, fixed: tuple[Any, Any], seconds: float, rung: Rung) -> float:
    begun = time.perf_counter()
    count = 0
    loss: Any = None
    while count < 2 or time.perf_counter() - begun < seconds:
        loss = network.step(*fixed)
        count += 1
    float(loss)
    rung.seconds.append((time.perf_counter() - begun) / count)
    rung.steps += count
    return rung.seconds[-1]


def _rounds(bench: Bench, network: Network, rungs: dict[int, Rung], sizes: Sequence[int]) -> list[dict[int, float]]:
    """Time every rung once a round, up and down in turn, so that a slow spell of the machine hits a round and no rung.

    All rungs' examples lie on the device at once: what fitted alone may not fit beside them, and then the rounds end.
    """
    rounds: list[dict[int, float]] = []
    try:
        fixed = {size: _on_device(bench, size) for size in sizes}
        most = ROUNDS_FULL if bench.full else ROUNDS
        for number in range(most):
            begun = time.monotonic()
            order = sizes if number % 2 == 0 else list(reversed(sizes))
            rounds.append({size: _window(network, fixed[size], ROUND_WINDOW_S, rungs[size]) for size in order})
            bench.advance(0.5 + (number + 1) / most / 2)
            if bench.left_s() < 2 * (time.monotonic() - begun):
                break
    except bench.tf.errors.OpError as error:
        if not is_shortage(error):
            raise
        gc.collect()
    return rounds


def _is_over_the_top(rungs: dict[int, Rung]) -> bool:
    rates = [size / min(rung.seconds) for size, rung in rungs.items()]
    return len(rates) > OVER_THE_TOP and max(rates[-OVER_THE_TOP:]) < max(rates[:-OVER_THE_TOP])


def knee(rounds: Sequence[dict[int, float]], best: dict[int, float]) -> dict[str, float]:
    """Return where overhead ends: `half_batch` with its 95 % interval, and `knee_batch`, the first rung that reaches it."""
    if len(best) < 2:
        return {}
    rates = {size: size / seconds for size, seconds in best.items()}
    values = {"best_examples_per_s": max(rates.values())}
    before, last = sorted(best)[-2:]
    values["saturated"] = float(rates[last] / rates[before] < STILL_RISING)
    if len(rounds) < FEWEST_PAIRS:
        return values
    halves = [each[min(each)] * max(size / seconds for size, seconds in each.items()) for each in rounds]
    middle, low, high = interval(halves)
    values.update(half_batch=middle, half_batch_low=low, half_batch_high=high)
    values["knee_batch"] = float(next((size for size in sorted(best) if size >= middle), last))
    return values


def memory(peaks: dict[int, int], pool_bytes: int) -> dict[str, float]:
    """Return the line through the peaks, and the largest batch that it predicts for the pool; {} where it is no line."""
    line = fit(peaks)
    if line is None:
        return {}
    values = {
        "memory_fixed_bytes": line.fixed,
        "memory_per_example_bytes": line.each,
        "memory_residual_bytes": line.residual,
        "memory_excess_share": line.excess_share,
        "memory_fixed_high_bytes": line.fixed_high,
        "memory_per_example_high_bytes": line.each_high,
    }
    if pool_bytes:
        values["pool_bytes"] = float(pool_bytes)
        values["largest_batch"] = float(largest(line, pool_bytes))
    return values


def fit(peaks: dict[int, int]) -> Line | None:
    """Return the least-squares line; None for too few points or one that does not rise."""
    if len(peaks) < FEWEST_RUNGS:
        return None
    count = len(peaks)
    mean_x = sum(peaks) / count
    mean_y = sum(peaks.values()) / count
    spread = sum((x - mean_x) ** 2 for x in peaks)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in peaks.items()) / spread
    fixed = mean_y - slope * mean_x
    if slope <= 0:
        return None
    residual = max(abs(y - fixed - slope * x) for x, y in peaks.items())
    upper = sorted(peaks)[-UPPER_END:]
    excess = max(0.0, *(peaks[x] / (fixed + slope * x) - 1 for x in upper))
    by_scatter, each_by_scatter = _upper(peaks, fixed, slope)
    high = max(by_scatter, fixed * (1 + excess)), max(each_by_scatter, slope * (1 + excess))
    return Line(fixed, slope, residual, excess, *high)


def _upper(peaks: dict[int, int], fixed: float, slope: float) -> tuple[float, float]:
    """Return a straight line above the 95 % prediction interval of peaks to the right of the mean batch.

    The interval is t s sqrt(1 + 1/n + (x - mean)^2 / spread), e.g. NIST/SEMATECH e-Handbook, 4.5.1.2; a sum of roots is
    never less than the root of a sum, and straight.
    """
    count = len(peaks)
    mean_x = sum(peaks) / count
    spread = sum((x - mean_x) ** 2 for x in peaks)
    scatter = math.sqrt(sum((y - fixed - slope * x) ** 2 for x, y in peaks.items()) / (count - 2))
    half = t_95(count - 2) * scatter
    more = half / math.sqrt(spread)
    return fixed + half * math.sqrt(1 + 1 / count) - more * mean_x, slope + more


def largest(line: Line, pool_bytes: float) -> int:
    """Return the largest batch whose peak lies within the usable part of the pool at the worst that the line allows."""
    return max(0, math.floor((USABLE_SHARE * pool_bytes - line.fixed_high) / line.each_high))
