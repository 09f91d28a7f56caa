"""Trials about how a step is called: `jit` (XLA or not) and `eager` (op by op, or as a graph).

Both arms of `jit` say what they want: Keras 3 turns XLA on by itself on a GPU, and TF_XLA_FLAGS can for all graphs, so a
default would compare nothing. The small network tells what XLA saves in launches, the wide twin what it saves in work.
`eager` is an instrument: what one op costs here when Python calls it. Nobody's script is slow because that arm is.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import time
from typing import Any, Callable

from . import child_precision
from .child_bench import Bench, Inconclusive, Json, arm, result, where
from .child_network import BATCH, Network, batches, images, timed_steps
from .child_pairs import FEWEST_PAIRS, PAIRS, PAIRS_FULL, compare, interleave, mean

WINDOW_STEPS = 20
EAGER_STEPS = 3  # measured: an eager step takes about ten times a step of a graph (30 against 3 ms on two loaded cores)
WIDE_STEPS = 10
OPS = 200  # a chain as long as a small network's step; shorter ones time the call around them
OP_ROUNDS = 5  # the best counts: other load only adds


def jit(bench: Bench) -> Json:
    """Compile the step with XLA or not, in pairs; on a GPU the wide twin too, where it keeps the device busy."""
    batch = batches(bench)
    networks = {name: Network(bench, jit=wanted) for name, wanted in (("off", False), ("on", True))}
    begun = time.perf_counter()
    ran_on = where(networks["on"].devices_of(networks["on"].step(*batch(0))))
    compile_s = time.perf_counter() - begun
    windows = {name: timed_steps(network, batch, WINDOW_STEPS) for name, network in networks.items()}
    times = _paired(bench, windows)
    arms = [_arm(name, WINDOW_STEPS, taken, BATCH) for name, taken in times.items()]
    comparisons, values = [compare("on", "off", times)], {"compile_s": compile_s}
    notes: list[str] = []
    if bench.device == "GPU":
        try:
            wide, values_of_wide = _wide(bench, *child_precision.grown(bench))
        except Inconclusive as why:
            notes.append(f"the wide twin: {why}")
        else:
            arms += wide["arms"]
            comparisons += wide["comparisons"]
            values.update(values_of_wide)
    return result(bench, device=ran_on, arms=arms, comparisons=comparisons, values=values, notes=notes)


def _wide(bench: Bench, width: int, batch: int, share: float) -> tuple[Json, dict[str, float]]:
    pictures, labels = images(bench)
    fixed = (bench.tf.constant(pictures[:batch]), bench.tf.constant(labels[:batch]))
    windows = {
        name: timed_steps(Network(bench, widths=(width, width), jit=wanted), lambda _: fixed, WIDE_STEPS)
        for name, wanted in (("wide_off", False), ("wide_on", True))
    }
    times = _paired(bench, windows)
    told = {
        "arms": [_arm(name, WIDE_STEPS, taken, batch) for name, taken in times.items()],
        "comparisons": [compare("wide_on", "wide_off", times)],
    }
    return told, {"width": width, "batch": batch, "device_share": share}


def eager(bench: Bench) -> Json:
    """Run the reference step op by op and as a graph, in pairs, and time a chain of tiny ops both ways."""
    batch = batches(bench)
    networks = {"eager": Network(bench), "graph": Network(bench)}
    windows = {
        "eager": _eager_window(bench, networks["eager"], batch),
        "graph": timed_steps(networks["graph"], batch, WINDOW_STEPS),
    }
    times = _paired(bench, windows)
    arms = [
        _arm(name, {"eager": EAGER_STEPS, "graph": WINDOW_STEPS}[name], taken, BATCH) for name, taken in times.items()
    ]
    ran_on = where(networks["graph"].devices_of(networks["graph"].step(*batch(0))))
    values = {"ops": OPS, **per_op(bench)}
    return result(bench, device=ran_on, arms=arms, comparisons=[compare("graph", "eager", times)], values=values)


def _eager_window(bench: Bench, network: Network, batch: Callable[[int], tuple[Any, Any]]) -> Callable[[], float]:
    fixed = [tuple(bench.tf.constant(each) for each in batch(number)) for number in range(EAGER_STEPS)]

    def window() -> float:
        begun = time.perf_counter()
        losses = [network.step_eagerly(*each) for each in fixed]
        float(losses[-1])
        return (time.perf_counter() - begun) / EAGER_STEPS

    return window


def per_op(bench: Bench) -> dict[str, float]:
    """Return the seconds that one op of a chain of tiny ones takes: called from Python, and inside a graph."""
    tf = bench.tf

    def chain(value: Any) -> Any:
        for _ in range(OPS):
            value = tf.sin(value)  # its result is not known beforehand, so that no optimiser removes it
        return value

    start = tf.constant(0.5)
    compiled = tf.function(chain, input_signature=[tf.TensorSpec([], tf.float32)])
    return {"eager_op_s": _best(chain, start) / OPS, "graph_op_s": _best(compiled, start) / OPS}


def _best(function: Callable[[Any], Any], value: Any) -> float:
    float(function(value))  # tracing, and the first kernel of its kind
    taken: list[float] = []
    for _ in range(OP_ROUNDS):
        begun = time.perf_counter()
        float(function(value))
        taken.append(time.perf_counter() - begun)
    return min(taken)


def _paired(bench: Bench, windows: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    pairs = PAIRS_FULL if bench.full else PAIRS
    times = interleave(windows, pairs=pairs, left_s=bench.left_s, advance=bench.advance)
    taken = min(len(each) for each in times.values())
    if taken < FEWEST_PAIRS:
        raise Inconclusive(f"only {taken} pairs in the time given, {FEWEST_PAIRS} are needed")
    return times


def _arm(name: str, steps: int, taken: list[float], batch: int) -> Json:
    return arm(name, steps=steps * len(taken), step_s=mean(taken), batch=batch)
