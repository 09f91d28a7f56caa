"""The `precision` trial: float32 against mixed_float16 on a wide twin of the network that keeps the device busy.

A small network is bound by kernel launches and would read "no gain" on any big GPU. So the twin grows until the device
works for 80 % of the step. That share needs no profiler: a tiny twin runs the same graph with next to no arithmetic, its
step is an upper bound of what the host needs, and the rest of the wide step is work of the device.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import gc
from typing import Callable, Sequence

from .child_bench import Bench, Inconclusive, Json, Unsupported, arm, result, where
from .child_network import CLASSES, PIXELS, Network, images, timed_steps
from .child_pairs import FEWEST_PAIRS, PAIRS, PAIRS_FULL, compare, interleave, mean

# Width and batch grow together: work grows with their product times the width, memory far less.
RUNGS: tuple[tuple[int, int], ...] = ((1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192))
TINY = (32, 32)
BUSY_SHARE = 0.8  # the device's part of the step from which a ratio of step times is one of device times
WINDOW_STEPS = 10
POLICIES = {"float32": "float32", "mixed": "mixed_float16"}
# Two twins at once, each with float32 weights, gradients and Adam's two moments; mixed has float16 copies with gradients.
BYTES_PER_WEIGHT = 2 * 4 * 4 + 2 * 2
# Each hidden unit is kept as sum, output and gradient of both in float32.
BYTES_PER_UNIT = 16
CAP_USED = 0.8  # of the pool: the allocator rounds sizes up and cannot use every gap


def precision(bench: Bench) -> Json:
    """Grow the twin on the GPU, then run both precisions in pairs."""
    if bench.device != "GPU":
        raise Unsupported("mixed float16 is made for the tensor cores of a GPU; the probe ran on the CPU")
    width, batch, share = grown(bench)
    return compete(bench, width, batch, {"width": width, "batch": batch, "device_share": share})


def grown(bench: Bench) -> tuple[int, int, float]:
    """Return width, batch and device share of the twin for this device, grown once a process; see `grow`."""
    made = bench.cache.get("grown")
    if made is None:
        try:
            made = grow(bench, RUNGS, TINY, BUSY_SHARE)
        except Inconclusive as why:
            made = why
        bench.cache["grown"] = made
    if isinstance(made, Inconclusive):
        raise Inconclusive(str(made))
    return made


def grow(bench: Bench, rungs: Sequence[tuple[int, int]], tiny: tuple[int, int], busy: float) -> tuple[int, int, float]:
    """Return the first width and batch that keep the device busy for that share of a step.

    Raises Inconclusive with the reason when the memory cap, the time or the widest twin comes first.
    """
    host_s = step_s(bench, *tiny)
    share, tried = 0.0, ""
    for width, batch in rungs:
        if bench.cap_bytes and needed_bytes(width, batch) > CAP_USED * bench.cap_bytes:
            raise Inconclusive(_short_of(busy, share, tried, "the next one does not fit into the probe's memory cap"))
        if bench.left_s() < 0:
            raise Inconclusive(_short_of(busy, share, tried, "the time is over"))
        share = max(0.0, 1.0 - host_s / step_s(bench, width, batch))
        tried = f"width {width}, batch {batch}"
        if share >= busy:
            return width, batch, share
    raise Inconclusive(_short_of(busy, share, tried, "wider ones are not tried"))


def _short_of(busy: float, share: float, tried: str, why: str) -> str:
    if not tried:
        return "no wide twin was tried: " + why
    return f"the device worked for {share:.0%} of the step at {tried}, {busy:.0%} are needed; {why}"


def needed_bytes(width: int, batch: int) -> int:
    """Return about what both twins take: their weights with companions, and the activations of one at work."""
    weights = (PIXELS + 1) * width + (width + 1) * width + (width + 1) * CLASSES
    return BYTES_PER_WEIGHT * weights + batch * (BYTES_PER_UNIT * 2 * width + 8 * PIXELS)


def step_s(bench: Bench, width: int, batch: int) -> float:
    """Return the step time of a float32 twin: the best of three windows after a warm-up."""
    window = twin_window(bench, width, batch, "float32", [])
    window()
    best = min(window() for _ in range(3))
    del window
    gc.collect()  # a compiled step refers to itself: without this the next twin would find the memory taken
    return best


def twin_window(bench: Bench, width: int, batch: int, policy: str, ran_on: list[str]) -> Callable[[], float]:
    """Return a window of a twin's steps on one batch that already lies on the device."""
    network = Network(bench, widths=(width, width), policy=policy)
    pictures, labels = images(bench)
    fixed = (bench.tf.constant(pictures[:batch]), bench.tf.constant(labels[:batch]))
    ran_on.append(where(network.devices_of(network.step(*fixed))))
    return timed_steps(network, lambda _: fixed, WINDOW_STEPS)


def compete(bench: Bench, width: int, batch: int, values: dict[str, float]) -> Json:
    """Run float32 and mixed precision in interleaved pairs."""
    ran_on: list[str] = []
    windows = {name: twin_window(bench, width, batch, policy, ran_on) for name, policy in POLICIES.items()}
    pairs = PAIRS_FULL if bench.full else PAIRS
    times = interleave(windows, pairs=pairs, left_s=bench.left_s, advance=bench.advance)
    taken = len(times["mixed"])
    if taken < FEWEST_PAIRS:
        raise Inconclusive(f"only {taken} pairs in the time given, {FEWEST_PAIRS} are needed")
    return result(
        bench,
        device="GPU" if set(ran_on) == {"GPU"} else "CPU",
        arms=[
            arm(name, steps=WINDOW_STEPS * len(each), step_s=mean(each), batch=batch) for name, each in times.items()
        ],
        comparisons=[compare("mixed", "float32", times)],
        values=values,
        notes=["on this network only; convolutions and other widths gain differently"],
    )
