"""Train with a seeded input delay and a seeded compute time; print what each takes alone, and how long steps really waited.

Both are slept away inside TensorFlow, so that no core is fought for. The seeded compute notes when it begins and ends: what
lies between two of them is waiting and TensorFlow's own work, and how long that work is is told by steps with their batches
at hand, without and (in `fit`) with a rest as long as the wait: what wakes up is slower, and the truth lies between. Where the
script fetches by itself (`eager`, `function`) its own clock around `next` is the truth instead: there Python's steps and the
pipeline's Python take turns at the interpreter, so a step's work is longer beside a generator than with its batches at hand,
and that is not waiting for data; nor is what `next` itself takes with a batch at hand, which is told, too. So it is with
`own_...` loops over `numpy`, where nothing is fetched from tf.data: the script makes each batch by itself, between its steps.
`jit` spins in XLA and notes nothing: its truth comes from the two times alone, computing without and with a rest. What is
measured alone is measured with the recorder switched off, in functions of its own, before and behind: the machine is not equally fast all the time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

BATCH = np.zeros((8, 4), np.float32), np.zeros((8, 1), np.float32)
SHAPES = tf.TensorSpec((8, 4)), tf.TensorSpec((8, 1))
NOTES = []  # (begin, end) of each seeded compute
RESTS = []  # (begin, end) of what a step sleeps before it computes, as if it waited
FETCHES = []  # (begin, end) of each fetch, where the script fetches
IN_GRAPHS, NO_REST_S = ("scan", "four_per_execution"), 1e-6
ROOTS = 100
ALONE_S, REPEATS = 2.0, 3  # other load only lengthens: the shortest of three


def slept(tensor: Any, seconds: float, notes: Any = None) -> Any:
    def sleep(value: Any) -> Any:
        begun = time.perf_counter()
        time.sleep(seconds)
        if notes is not None:
            notes.append((begun, time.perf_counter()))
        return value

    if seconds <= 0:
        return tensor
    result = tf.py_function(sleep, [tensor], tf.float32)
    result.set_shape(tensor.shape)
    return result


def rooted(value: Any) -> Any:
    for _ in range(ROOTS):
        value = tf.sqrt(value) + 0.1
    return value


class Compute(keras.layers.Layer):
    """Takes its time, once a step: forward only."""

    def __init__(self, seconds: float, rounds: int, rest_s: float) -> None:
        super().__init__()
        self.seconds, self.rounds, self.rest_s = seconds, rounds, rest_s

    def call(self, x: Any) -> Any:
        some = tf.reduce_sum(x) * 0.0  # what does not need the batch would run beside the fetch
        some = slept(some, self.rest_s, RESTS)
        if self.rounds:
            # One root waits for the other, so that its latency counts and nothing else: sines side by side took 1.5 to 2.4 ms
            # for the same rounds, as what shares the core had it, and products of matrices a third longer once they had to wait.
            spun = tf.while_loop(lambda at, _: at < self.rounds, lambda at, v: (at + 1, rooted(v)), (0, some))[1]
            return x + tf.stop_gradient(spun) * 0.0
        return x + tf.stop_gradient(slept(some, self.seconds, NOTES))


def dataset(kind: str, delay: float, steps: int) -> Any:
    """Return the pipeline in which each batch takes the delay."""
    if kind == "generator":

        def batches() -> Iterable[Any]:
            for _ in range(steps):
                if delay:
                    time.sleep(delay)
                yield BATCH

        return tf.data.Dataset.from_generator(batches, output_signature=SHAPES)
    if kind == "numpy":
        return prepared(delay, steps)
    ready = tf.data.Dataset.from_tensors(BATCH).repeat(steps)
    if kind == "ready":
        return ready
    if kind == "py_function":
        return ready.map(lambda x, y: (slept(x, delay), y))
    file = Path(tempfile.mkdtemp()) / "batch"
    file.write_bytes(BATCH[0].tobytes())

    def one(x: Any) -> Any:
        time.sleep(delay)
        return np.frombuffer(file.read_bytes(), np.float32).reshape(8, 4) if kind == "files" else x * 2

    def mapped(x: Any, y: Any) -> Any:
        x = tf.numpy_function(one, [x], tf.float32)
        x.set_shape((8, 4))
        return x, y

    return ready.map(mapped)


def prepared(delay: float, steps: int) -> Iterable[Any]:
    """Yield batches, each after as long a time in NumPy."""
    noise = np.random.default_rng(0).random(2000)
    for _ in range(steps):
        begun = time.perf_counter()
        while time.perf_counter() - begun < delay:
            np.sort(noise)
        yield BATCH


def model_of(seconds: float, rounds: int, loop: str, rest_s: float = 0.0) -> Any:
    model = keras.Sequential([keras.layers.Input((4,)), Compute(seconds, rounds, rest_s), keras.layers.Dense(1)])
    many = 4 if loop == "four_per_execution" else 1
    model.compile("sgd", "mse", jit_compile=loop == "jit", steps_per_execution=many)
    return model


def trainer(loop: str, seconds: float, rounds: int, rest_s: float = 0.0) -> Callable[[Any], None]:
    """Return what trains over a dataset in this kind of loop, a new model each time it is asked for."""
    model = model_of(seconds, rounds, loop, rest_s)
    if loop in {"fit", "four_per_execution", "jit"}:
        return lambda data: model.fit(data, verbose=0) and None
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    compiled = tf.function(step, jit_compile=True if loop == "own_jit" else None)

    def eager(data: Any) -> None:
        for x, y in clocked(data):
            step(x, y)

    def function(data: Any) -> None:
        for x, y in clocked(data):
            compiled(x, y)

    @tf.function
    def scan(data: Any) -> Any:
        loss = 0.0
        for x, y in data:
            loss = step(x, y)
        return loss

    return {
        "eager": eager,
        "function": function,
        "scan": lambda data: scan(data) and None,
        "own_eager": eager,
        "own_function": function,
        "own_jit": function,
    }[loop]


def clocked(data: Any) -> Iterable[Any]:
    batches = iter(data)
    while True:
        begun = time.perf_counter()
        batch = next(batches, None)
        if batch is None:
            return
        FETCHES.append((begun, time.perf_counter()))
        yield batch


class Rest(keras.callbacks.Callback):
    """Idles behind each step as long as it would wait: what wakes up is slower than what never slept (measured: by 1 ms)."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.rested: list[float] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        begun = time.perf_counter()
        time.sleep(self.seconds)
        self.rested.append(time.perf_counter() - begun)


def rested_step(seconds: float, rounds: int, rest_s: float) -> float:
    """Return how long a step inside XLA takes with its batch at hand after a rest, the rest apart."""
    if rest_s <= 0:
        return per_step(trainer("jit", seconds, rounds), lambda steps: dataset("ready", 0, steps), seconds)
    model, steps = model_of(seconds, rounds, "jit"), max(48, int(ALONE_S / (rest_s + seconds)))
    model.fit(dataset("ready", 0, 8), verbose=0)
    rest = Rest(rest_s)
    begins: list[float] = []
    note = keras.callbacks.LambdaCallback(on_train_batch_begin=lambda *_, **__: begins.append(time.perf_counter()))
    model.fit(dataset("ready", 0, steps), verbose=0, callbacks=[note, rest])
    whole = [after - before - slept for before, after, slept in zip(begins, begins[1:], rest.rested)]
    return sorted(whole)[len(whole) // 2]


def rested_work(loop: str, seconds: float, rounds: int, rest_s: float) -> float:
    """Return the work between two computes of steps that rest before each, the rest apart."""
    train, steps = trainer(loop, seconds, rounds, rest_s), max(48, int(ALONE_S / (rest_s + seconds))) // 4 * 4
    train(dataset("ready", 0, 8))
    NOTES.clear()
    RESTS.clear()
    train(dataset("ready", 0, steps))
    rests = [end - begin for begin, end in RESTS[1:]]
    gaps = [after[0] - before[1] - slept for before, after, slept in zip(NOTES, NOTES[1:], rests)][steps // 3 :]
    NOTES.clear()
    RESTS.clear()
    return without_stalls(gaps, gaps)[0]


def work_between(loop: str, seconds: float, rounds: int, rest_s: float) -> tuple[float, float]:
    """Return TensorFlow's own work between two computes with a batch at hand: at least, and at most.

    What never slept is faster than what wakes up. In `fit` the step behind a rest as long as the wait has one thread more to
    wake than one that really waited: what waiting costs lies between the two. In graphs of many steps the rest is one of
    their operations, and what counts is how much longer the work is than with the same operation and hardly any rest.
    """
    at_hand_run(trainer(loop, seconds, rounds), seconds)
    least = between()[0]
    if loop in IN_GRAPHS and rest_s > 0:
        hardly, whole = (rested_work(loop, seconds, rounds, each) for each in (NO_REST_S, rest_s))
        return least, least + max(0.0, whole - hardly)
    if loop != "fit" or rest_s <= 0:
        return least, least
    model, steps = model_of(seconds, rounds, loop), max(48, int(ALONE_S / (rest_s + seconds)))
    model.fit(dataset("ready", 0, 8), verbose=0)
    NOTES.clear()
    rest = Rest(rest_s)
    model.fit(dataset("ready", 0, steps), verbose=0, callbacks=[rest])
    pairs = list(zip(NOTES, NOTES[1:], rest.rested))
    NOTES.clear()
    gaps = [after[0] - before[1] - slept for before, after, slept in pairs[len(pairs) // 3 :]]
    return least, max(least, without_stalls(gaps, gaps)[0])


def per_step(train: Callable[[Any], None], make: Callable[[int], Any], guess: float) -> float:
    """Return a step's time: the difference of two lengths, so that start and end do not count."""
    train(make(8))
    many = 8 + max(16, int(ALONE_S / REPEATS / max(guess, 0.002))) // 8 * 8
    long, short = (min(timed(train, make(steps)) for _ in range(REPEATS)) for steps in (many, 8))
    return (long - short) / (many - 8)


def timed(train: Callable[[Any], None], data: Any) -> float:
    begun = time.perf_counter()
    train(data)
    return time.perf_counter() - begun


def apart(data: Any) -> float:
    """Return the time from one item to the next with nobody working between: the median, for a stall of 0.1 s is common."""
    at = [time.perf_counter() for _ in data]
    gaps = sorted(after - before for before, after in zip(at[8:], at[9:]))
    return gaps[len(gaps) // 2]


def rounds_for(seconds: float) -> int:
    """Return how many rounds take this long inside XLA here."""
    rounds = 4_000
    train = trainer("jit", 0.0, rounds)
    taken = per_step(train, lambda steps: dataset("ready", 0, steps), 0.01)
    empty = per_step(trainer("jit", 0.0, 1), lambda steps: dataset("ready", 0, steps), 0.002)
    return max(1, int(rounds * seconds / max(1e-5, taken - empty)))


def between() -> tuple[float, float]:
    """Return the mean time from the end of a compute to the begin of the next, and from begin to begin, of the later ones."""
    late = NOTES[len(NOTES) // 3 :]
    gaps = [after[0] - before[1] for before, after in zip(late, late[1:])]
    whole = [after[0] - before[0] for before, after in zip(late, late[1:])]
    NOTES.clear()
    return without_stalls(gaps, whole)


def alone(loop: str, seconds: float, rounds: int, rest_s: float) -> tuple[float, float]:
    """Return how long a step takes with its batch at hand; and the fetch of it, where the script fetches, or `jit`'s after a rest."""
    if loop == "jit":
        return rested_step(seconds, rounds, 0.0), rested_step(seconds, rounds, rest_s)
    FETCHES.clear()
    train = trainer(loop, seconds, rounds)
    step = per_step(train, lambda steps: dataset("ready", 0, steps), seconds)
    at_hand_run(train, seconds)
    return step, fetching(FETCHES)[0] if FETCHES else 0.0


def at_hand_run(train: Callable[[Any], None], seconds: float) -> None:
    """Train once over batches at hand, so that what is noted is of one run: between two, more happens than between steps."""
    train(dataset("ready", 0, 8))
    NOTES.clear()
    FETCHES.clear()
    train(dataset("ready", 0, max(48, int(ALONE_S / max(seconds, 0.002)) // 4 * 4)))


def fetching(fetches: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean time of a fetch, and from one to the next, of the later ones."""
    late = fetches[len(fetches) // 3 :]
    return without_stalls([end - begin for begin, end in late], [b[0] - a[0] for a, b in zip(late, late[1:])])


def without_stalls(waits: list[float], whole: list[float]) -> tuple[float, float]:
    """Return the means of what belongs together, without the longest waits: a stall of the machine is neither."""
    kept = sorted(range(len(whole)), key=waits.__getitem__)[: len(whole) - len(whole) // 50]
    return sum(waits[each] for each in kept) / len(kept), sum(whole[each] for each in kept) / len(kept)


def waited(loop: str, seconds: float, rounds: int, rest_s: float, before: tuple[float, float]) -> dict[str, float]:
    """Return the share of the noted steps that waited, at most and at least, and how sure TensorFlow's own work is."""
    gap, whole = between()
    after = work_between(loop, seconds, rounds, rest_s)  # a busy machine lengthens it: how much is told
    most, least = ([max(0.0, gap - each) / whole for each in pair] for pair in zip(before, after))
    return from_to(most, least)


def from_to(most: list[float], least: list[float]) -> dict[str, float]:
    """Return the share that waited, at most and at least, each by what was measured before and behind, and how unsure it is.

    What is compared are shares, not the work that they are told by: work of 5 or 6 ms with data in 0.4 makes no truth unsure.
    """
    unsure = max(abs(pair[1] - pair[0]) for pair in (most, least)) / 2
    return {"wait_share": sum(most) / 2, "least_share": sum(least) / 2, "unsure": unsure}


def measured(given: argparse.Namespace, recorder: Any) -> dict[str, Any]:
    """Return the two times alone, and the share that waited where it was noted: at most, at least, and how unsure that is."""
    delay, seconds, loop = given.delay_ms / 1000, given.compute_ms / 1000, given.loop
    recorder.off = True
    rounds = rounds_for(seconds) if loop.endswith("jit") else 0
    compute, at_hand = alone(loop, seconds, rounds, delay - seconds)
    noted = bool(NOTES) and not FETCHES
    made = 0.0
    if given.input != "arrays":
        made = apart(dataset(given.input, delay, 8 + max(40, int(ALONE_S / max(delay, 0.002)))))
    work = work_between(loop, seconds, rounds, made - compute) if noted else (0.0, 0.0)
    NOTES.clear()
    FETCHES.clear()
    recorder.off = False
    train(given, rounds, made, compute)
    recorder.off = True
    fetched, notes = list(FETCHES), list(NOTES)
    again, at_hand_again = alone(loop, seconds, rounds, delay - seconds)
    NOTES[:] = notes
    told = {"input_s": made, "compute_s": (compute + again) / 2, "wait_share": None, "least_share": None, "unsure": 0.0}
    if fetched:
        fetch, whole = fetching(fetched)
        owns = (0.0, 0.0) if given.input == "numpy" else (at_hand, at_hand_again)
        told.update(from_to([fetch / whole] * 2, [max(0.0, fetch - own) / whole for own in owns]))
    elif noted:
        told.update(waited(loop, seconds, rounds, made - compute, work))
    elif loop == "jit":
        pairs = ((compute, again), (at_hand, at_hand_again))
        told.update(from_to(*([max(0.0, 1 - each / max(made, each)) for each in pair] for pair in pairs)))
    recorder.off = False
    return told


def train(given: argparse.Namespace, rounds: int, made: float, compute: float) -> None:
    """Train for the asked time: what the recorder sees."""
    delay, seconds = given.delay_ms / 1000, given.compute_ms / 1000
    longest = made + compute if given.loop == "scan" or given.input == "numpy" else max(made, compute)
    steps = int(given.seconds / longest) // 4 * 4
    if given.input == "arrays":
        x, y = (np.repeat(each, steps, 0) for each in BATCH)
        model_of(seconds, rounds, given.loop).fit(x, y, batch_size=8, verbose=0)
    else:
        trainer(given.loop, seconds, rounds)(dataset(given.input, delay, steps))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", default="generator")
    parser.add_argument("--loop", default="fit")
    parser.add_argument("--delay-ms", type=float, default=5)
    parser.add_argument("--compute-ms", type=float, default=5)
    parser.add_argument("--seconds", type=float, default=4.5)
    core = sys.modules.get("_gpudoctor_agent.core")
    recorder = core.process if core is not None else argparse.Namespace()
    print(json.dumps(measured(parser.parse_args(), recorder)), flush=True)


main()
