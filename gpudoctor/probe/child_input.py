"""Trials of the input side: `prefetch`, `map`, `numpy_loop`.

Their slow arms are instruments. They show what overlap, parallel maps and vectorised work bring on this machine, never
that a user's pipeline is slow.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any, Callable, Sequence

from .child_bench import Bench, Inconclusive, Json, arm, result, where
from .child_network import BATCH, SIDE, Network, batches, images
from .child_pairs import FEWEST_PAIRS, PAIRS, PAIRS_FULL, compare, interleave, mean

STEPS_PER_BATCH = 3  # each batch is trained on so often: at one step (1-2 ms) the iterator's own cost would be measured
PREFETCH_WINDOW_S = 0.1  # without overlap; a window has as many batches as fit, within these bounds
FEWEST_BATCHES, MOST_BATCHES = 4, 12
SKIPPED_STEPS = 2  # at a window's start: the first batch cannot overlap with anything
ROUNDS_LIMIT = 20_000
CALIBRATIONS = 2  # the first, at one round, measures mostly the fixed cost of a batch
MAP_EXAMPLES = 1024  # a window of `map`, as 8 batches
NUMPY_STEPS = 25


def prefetch(bench: Bench) -> Json:
    """Train on batches that the host has to make, and see whether making overlaps with training, and through whom."""
    network = Network(bench, raw=False)
    work = _Production(bench, network)
    arms = {name: work.window(name) for name in ("none", "default", "explicit")}
    times = _rounds(bench, arms)
    notes = [
        "each step waits for its loss, as a loop that logs it does; a loop that does not wait hides part of this by itself",
        f"one batch costs {work.make_s * 1e3:.1f} ms to make and {work.train_s * 1e3:.1f} ms to train on",
    ]
    if not work.can_switch:
        notes.append("this TensorFlow injects no prefetch: `default` is the same as `none`")
    return result(
        bench,
        device=where(network.devices_of(work.last_loss)),
        arms=[
            arm(name, steps=work.batches * len(taken), step_s=mean(taken), batch=BATCH) for name, taken in times.items()
        ],
        comparisons=[compare(name, "none", times) for name in ("default", "explicit")],
        values={"ideal_speedup": (work.make_s + work.train_s) / max(work.make_s, work.train_s)},
        notes=notes,
    )


class _Production:
    """A pipeline whose batch costs the host about as much time as training on it costs the device."""

    def __init__(self, bench: Bench, network: Network) -> None:
        self.bench = bench
        self.network = network
        self.can_switch = True
        self.last_loss: Any = None
        tf = bench.tf
        pictures, labels = images(bench)
        with tf.device("/CPU:0"):
            self.pictures = tf.constant(pictures[: BATCH * 16].reshape(16, BATCH, SIDE, SIDE))
            self.labels = tf.constant(labels[: BATCH * 16].reshape(16, BATCH))
        self.rounds = 1
        self.train_s = self._train_cost()
        self.make_s = self._calibrate()
        fitting = round(PREFETCH_WINDOW_S / (self.make_s + self.train_s))
        self.batches = max(FEWEST_BATCHES, min(MOST_BATCHES, fitting))

    def _make(self, number: Any) -> tuple[Any, Any]:
        """Make one batch: single-threaded arithmetic, `rounds` times, that changes nothing in the pictures."""
        tf = self.bench.tf
        wanted = tf.cast(self.pictures[number % 16], tf.float32) / 255.0

        def goes_on(done: Any, _: Any) -> Any:
            return done < self.rounds

        def work(done: Any, each: Any) -> tuple[Any, Any]:
            return done + 1, tf.sin(each) + each

        _, worked = tf.while_loop(goes_on, work, (tf.constant(0), wanted), parallel_iterations=1)
        return wanted + 0.0 * tf.math.tanh(worked), self.labels[number % 16]

    def dataset(self, name: str, count: int) -> Any:
        tf = self.bench.tf
        made = tf.data.Dataset.range(count, output_type=tf.int64).map(self._make)
        if name == "explicit":
            made = made.prefetch(tf.data.AUTOTUNE)
        options = tf.data.Options()
        _one_thread(options)
        self.can_switch = _switch(options, "inject_prefetch", name == "default")
        _switch(options, "map_parallelization", on=False)  # only overlap shall differ
        return made.with_options(options)

    def _train(self, batch: tuple[Any, Any]) -> None:
        for _ in range(STEPS_PER_BATCH):
            self.last_loss = self.network.step(*batch)[0]
        float(self.last_loss)

    def _train_cost(self) -> float:
        batch = next(iter(self.dataset("none", 1)))
        self._train(batch)
        return _best(lambda: self._train(batch), 5)

    def _calibrate(self) -> float:
        """Set `rounds` so that making costs about as much as training; return the cost."""
        for _ in range(CALIBRATIONS):
            cost = self._make_cost()
            self.rounds = max(1, min(ROUNDS_LIMIT, round(self.rounds * self.train_s / cost)))
        return self._make_cost()

    def _make_cost(self) -> float:
        source = iter(self.dataset("none", 8))
        next(source)
        return _best(lambda: next(source), 5)

    def window(self, name: str) -> Callable[[], float]:
        dataset = self.dataset(name, self.batches + SKIPPED_STEPS)

        def run() -> float:
            source = iter(dataset)  # anew: a buffer that filled while another arm ran would flatter this one
            for _ in range(SKIPPED_STEPS):
                self._train(next(source))
            begun = time.perf_counter()
            for batch in source:
                self._train(batch)
            return (time.perf_counter() - begun) / self.batches

        return run


def _one_thread(options: Any) -> None:
    """Let each op of the pipeline use one thread, so that making a batch is the work of one core."""
    threading = getattr(options, "threading", None) or getattr(options, "experimental_threading", None)
    if threading is not None:
        threading.max_intra_op_parallelism = 1


def _switch(options: Any, name: str, on: bool) -> bool:
    """Set one optimisation of tf.data; return whether this TensorFlow has it."""
    try:
        setattr(options.experimental_optimization, name, on)
    except AttributeError:
        return False
    return True


def _best(call: Callable[[], Any], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begun)
    return best


def _rounds(bench: Bench, arms: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    pairs = PAIRS_FULL if bench.full else PAIRS
    times = interleave(arms, pairs=pairs, left_s=bench.left_s, advance=bench.advance)
    taken = min(len(each) for each in times.values())
    if taken < FEWEST_PAIRS:
        raise Inconclusive(f"only {taken} pairs in the time given, {FEWEST_PAIRS} are needed")
    return times


def map_(bench: Bench) -> Json:
    """Run four equal pipelines without training: a Python map, TF ops one by one, in parallel, and on whole batches."""
    arms = {name: _map_window(bench, name) for name in ("python", "tf_serial", "tf_parallel", "tf_batched")}
    times = _rounds(bench, arms)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return result(
        bench,
        device="CPU",
        arms=[
            arm(name, steps=MAP_EXAMPLES // BATCH * len(taken), step_s=mean(taken), batch=BATCH)
            for name, taken in times.items()
        ],
        comparisons=[
            compare(name, against, times)
            for name, against in (("tf_serial", "python"), ("tf_parallel", "tf_serial"), ("tf_batched", "tf_serial"))
        ],
        values={"cores": float(cores)},
        notes=[f"pipelines alone, without training; step_s is the time of one batch of {BATCH}"],
    )


def _map_window(bench: Bench, name: str) -> Callable[[], float]:
    tf, np = bench.tf, bench.np
    with tf.device("/CPU:0"):
        pictures = tf.constant(images(bench)[0][:MAP_EXAMPLES])
    source = tf.data.Dataset.from_tensor_slices(pictures)

    def by_tensorflow(each: Any) -> Any:
        return _augment(tf, each)

    def by_python(each: Any) -> Any:
        return tf.numpy_function(partial(_augment_numpy, np), [each], tf.float32)

    if name == "python":
        made = source.map(by_python).batch(BATCH)
    elif name == "tf_batched":
        made = source.batch(BATCH).map(by_tensorflow)
    else:
        calls = tf.data.AUTOTUNE if name == "tf_parallel" else None
        made = source.map(by_tensorflow, num_parallel_calls=calls).batch(BATCH)
    options = tf.data.Options()
    _switch(options, "map_parallelization", on=False)
    _switch(options, "inject_prefetch", on=False)
    dataset = made.with_options(options)

    def window() -> float:
        begun = time.perf_counter()
        count = sum(1 for _ in dataset)
        return (time.perf_counter() - begun) / count

    return window


def _augment(tf: Any, pictures: Any) -> Any:
    """Scale, shift by the mean, bend the contrast and flip: for one picture or a batch of them."""
    scaled = tf.cast(pictures, tf.float32) / 255.0
    centred = scaled - tf.reduce_mean(scaled, axis=[-2, -1], keepdims=True)
    return tf.reverse(tf.math.tanh(2.0 * centred), axis=[-1])


def _augment_numpy(np: Any, picture: Any) -> Any:
    scaled = picture.astype(np.float32) / np.float32(255)
    centred = scaled - scaled.mean(axis=(-2, -1), keepdims=True)
    return np.ascontiguousarray(np.tanh(np.float32(2) * centred)[..., ::-1])


def numpy_loop(bench: Bench) -> Json:
    """Train with each batch prepared and judged by NumPy in the loop, against the same work as tensor ops."""
    tf, np = bench.tf, bench.np
    network = Network(bench, raw=False)
    batch = batches(bench)
    signature = [tf.TensorSpec([None, SIDE, SIDE], tf.uint8), tf.TensorSpec([None], tf.int32)]

    @tf.function(input_signature=signature)  # type: ignore[untyped-decorator]  # TensorFlow has no stubs
    def tensor_step(pictures: Any, labels: Any) -> tuple[Any, Any]:
        loss, shares = network.step(_augment(tf, pictures), labels)
        hits = tf.argmax(shares, axis=1, output_type=tf.int32) == labels
        return loss, tf.reduce_mean(tf.cast(hits, tf.float32))

    def numpy_step(pictures: Any, labels: Any) -> tuple[Any, Any]:
        loss, shares = network.step(_augment_numpy(np, pictures), labels)
        return loss, np.mean(np.argmax(shares.numpy(), axis=1) == labels)

    ran_on = where(network.devices_of(tensor_step(*batch(0))[0]))
    arms = {"numpy": _loop(numpy_step, batch), "tensor_ops": _loop(tensor_step, batch)}
    times = _rounds(bench, arms)
    return result(
        bench,
        device=ran_on,
        arms=[
            arm(name, steps=NUMPY_STEPS * len(taken), step_s=mean(taken), batch=BATCH) for name, taken in times.items()
        ],
        comparisons=[compare("tensor_ops", "numpy", times)],
    )


def _loop(step: Callable[[Any, Any], Sequence[Any]], batch: Callable[[int], tuple[Any, Any]]) -> Callable[[], float]:
    def window() -> float:
        begun = time.perf_counter()
        loss: Any = None
        for number in range(NUMPY_STEPS):
            loss = step(*batch(number))[0]
        float(loss)
        return (time.perf_counter() - begun) / NUMPY_STEPS

    return window
