"""Trials that train the reference network: `baseline`, `cpu`.

Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import math
import time
from typing import Any

from .child_bench import Bench, Json, arm, result, where
from .child_network import BATCH, CLASSES, IMAGES, Network, batches, timed_steps
from .child_pairs import FEWEST_PAIRS, PAIRS, PAIRS_FULL, compare, interleave, mean

CHANCE = math.log(CLASSES)  # the loss of a network that knows nothing
LEARNED_SHARE = 0.5  # of CHANCE; measured: below 0.05 of it after an epoch, at 1.0 when nothing is learned
EPOCH_STEPS = IMAGES // BATCH
WARM_UP_STEPS = 20  # measured: tracing is the first step, the second to about the tenth still grow thread pools
WINDOW_STEPS = 40  # measured: a window of about 0.1 s here; shorter ones spread more
BLOCK_STEPS = 50
FEWEST_STEPS = 3 * BLOCK_STEPS
EPOCH_BUDGET_S = 6.0  # policy: on a slow machine part of an epoch has to do


def baseline(bench: Bench) -> Json:
    """Train for an epoch, and see whether it runs, where, how fast, and whether the loss falls."""
    network = Network(bench)
    batch = batches(bench)
    begun = time.perf_counter()
    first = network.step(*batch(0))
    losses = [float(first)]
    first_step_s = time.perf_counter() - begun
    losses += [float(network.step(*batch(number))) for number in range(1, WARM_UP_STEPS)]
    seconds, timed = _epoch(bench, network, batch)
    losses += timed
    last = mean(losses[-10:])
    ran_on = where(network.devices_of(network.step(*batch(0))))
    fault = "" if last < LEARNED_SHARE * CHANCE else _not_learned(losses[0], last, len(losses))
    return result(
        bench,
        status="failed" if fault else "ok",
        reason=fault,
        device=ran_on,
        arms=[
            arm(
                "baseline",
                steps=len(timed),
                step_s=seconds / len(timed),
                batch=BATCH,
                loss_first=losses[0],
                loss_last=last,
                peak_bytes=bench.peak_bytes(),
            )
        ],
        values={"loss_chance": CHANCE, "first_step_s": first_step_s},
    )


def _epoch(bench: Bench, network: Network, batch: Any) -> tuple[float, list[float]]:
    """Train the rest of the epoch in blocks; the losses are read at a block's end, so that steps can queue up."""
    seconds = 0.0
    losses: list[float] = []
    budget_s = min(EPOCH_BUDGET_S, bench.left_s() / 2)
    number = WARM_UP_STEPS
    while number < EPOCH_STEPS and (seconds < budget_s or len(losses) < FEWEST_STEPS):
        begun = time.perf_counter()
        block = [network.step(*batch(each)) for each in range(number, min(number + BLOCK_STEPS, EPOCH_STEPS))]
        losses += [float(loss) for loss in block]
        seconds += time.perf_counter() - begun
        number += len(block)
        bench.advance(number / EPOCH_STEPS)
    return seconds, losses


def _not_learned(first: float, last: float, steps: int) -> str:
    if not math.isfinite(last):
        return f"the loss became {last} within {steps} steps"
    return f"the loss did not fall: {first:.3f} at first, {last:.3f} after {steps} steps (chance is {CHANCE:.3f})"


def cpu(bench: Bench) -> Json:
    """Train on the CPU; where TensorFlow would use a GPU, against it in pairs."""
    batch = batches(bench)
    windows = {"cpu": timed_steps(Network(bench, place="/CPU:0"), batch, WINDOW_STEPS)}
    comparisons: list[Json] = []
    if bench.device == "GPU":
        windows["default"] = timed_steps(Network(bench), batch, WINDOW_STEPS)
    pairs = PAIRS_FULL if bench.full else PAIRS
    times = interleave(windows, pairs=pairs, left_s=bench.left_s, advance=bench.advance)
    if "default" in times and len(times["default"]) >= FEWEST_PAIRS:
        comparisons.append(compare("default", "cpu", times))
    arms = [
        arm(name, steps=WINDOW_STEPS * len(taken), step_s=mean(taken), batch=BATCH) for name, taken in times.items()
    ]
    return result(bench, device="CPU", arms=arms, comparisons=comparisons)
