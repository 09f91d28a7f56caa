"""Steps of a given length; alternating few with the recorder's hooks and few without (`toggled`), or one kind throughout.

Prints one JSON line: for `toggled` and `profiler` the pairs of block times and of processor times, else the mean step.
"""

import argparse
import json
import sys
import tempfile
import time

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--arm", choices=["toggled", "profiler", "throughout"], default="toggled")
parser.add_argument("--step-ms", type=float, default=2)
parser.add_argument("--pairs", type=int, default=1000)
parser.add_argument("--rounds", type=int, help="products a step, as another process found them")
parser.add_argument("--seconds", type=float, default=8)
given = parser.parse_args()
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
core = sys.modules.get("_gpudoctor_agent.core")
sampler = sys.modules.get("_gpudoctor_agent.sampler")
data = tf.data.Dataset.from_tensors(tf.ones((128, 128)) / 128).repeat()


def stepper(rounds):
    weight = tf.Variable(tf.ones((128, 128)) / 128)

    @tf.function
    def step(iterator):
        batch = next(iterator)
        for _ in tf.range(rounds):
            batch = batch @ weight
        weight.assign_add(batch * 1e-9)

    iterator = iter(data)
    return lambda: step(iterator)


def calibrated():
    """Return how many products a step of the wanted length holds."""
    step = stepper(200)
    step()
    begun = time.perf_counter()
    for _ in range(20):
        step()
    return max(1, int(200 * given.step_ms / 1000 / ((time.perf_counter() - begun) / 20)))


def block(step, steps):
    begun, used = time.perf_counter(), time.process_time()
    for _ in range(steps):
        step()
    return time.perf_counter() - begun, time.process_time() - used


def recorder(on, kept=[]):  # noqa: B006
    """Let the threads do their work or none; a stamped function cannot be unstamped, so there are two functions."""
    if core is None:
        return
    if not kept:
        kept[:] = [list(core.every_beat), sampler.current_frames]
    core.every_beat[:] = kept[0] if on else []
    sampler.current_frames = kept[1] if on else dict


def profiler(on):
    if on:
        tf.profiler.experimental.start(tempfile.mkdtemp())
    else:
        tf.profiler.experimental.stop(save=False)


if core is not None:
    core.process.off = True
rounds = given.rounds or calibrated()
without = stepper(rounds)
without()
if core is not None and given.arm != "profiler":
    core.process.off = False
having = stepper(rounds)
having()
steps = max(1, round(10 / given.step_ms))
if given.arm == "throughout":
    block(having, 50)
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < given.seconds:
        block(having, 10)
        count += 10
    print(json.dumps({"step_s": (time.perf_counter() - begun) / count, "rounds": rounds}))
else:
    switch = profiler if given.arm == "profiler" else recorder
    steps = steps if given.arm == "toggled" else 5 * steps
    times, pairs = {}, []
    for number in range(given.pairs + 20):
        for on in (True, False) if number % 2 else (False, True):
            if given.arm == "toggled" or on:
                switch(on)
            times[on] = block(having if on else without, steps)
            if given.arm == "profiler" and on:
                switch(False)
        pairs.append([*times[True], *times[False]])
    print(json.dumps({"steps": steps, "pairs": pairs[20:]}))
