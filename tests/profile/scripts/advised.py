"""An input pipeline with one thing missing, as it is and with the advised change: no_prefetch, prefetch, serial, parallel.

TensorFlow's own injections are off, so that what is missing stays missing; a second word, untuned, puts autotune off, too.
Prints the milliseconds of a steady step. With --turns N and the other form: both by turns in this process, a line a turn with
both times, for a machine's load changes from minute to minute.
"""

import sys
import time

import keras
import numpy as np
import tensorflow as tf

arm, more = sys.argv[1], sys.argv[2:]
STEPS, SKIPPED, WAIT_S = 120, 40, 0.015
pixels = np.random.default_rng(0).random((64, 4096), dtype="float32")


def batches():
    while True:
        time.sleep(WAIT_S)
        yield np.ones((16, 256), "float32"), np.zeros((16,), "int32")


def heavy(x):
    for _ in range(6):
        x = tf.sort(tf.math.sin(x * 7.0))
    return tf.reshape(x[:256], (256,)), tf.constant(0)


options = tf.data.Options()
options.autotune.enabled = more != ["untuned"]
options.experimental_optimization.inject_prefetch = False
options.experimental_optimization.map_parallelization = False
options.experimental_optimization.map_and_batch_fusion = False


def without_prefetch():
    specs = (tf.TensorSpec((16, 256)), tf.TensorSpec((16,), tf.int32))
    return tf.data.Dataset.from_generator(batches, output_signature=specs)


def with_prefetch():
    return without_prefetch().prefetch(tf.data.AUTOTUNE)


def with_serial_map():
    ds = tf.data.Dataset.from_tensor_slices(pixels).repeat()
    ds = ds.map(heavy)
    return ds.batch(16)


def with_parallel_map():
    ds = tf.data.Dataset.from_tensor_slices(pixels).repeat()
    ds = ds.map(heavy, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(16)


ARMS = {
    "no_prefetch": (without_prefetch, 1400),
    "prefetch": (with_prefetch, 1400),
    "serial": (with_serial_map, 64),
    "parallel": (with_parallel_map, 64),
}
make, width = ARMS[arm]

keras.utils.set_random_seed(0)
layers = [keras.layers.Dense(width, activation="relu") for _ in range(4)]
model = keras.Sequential([keras.layers.Input((256,)), *layers, keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


class Clock(keras.callbacks.Callback):
    """Notes when steps ended: behind the last one `fit` now and then takes 2 s more to end."""

    at = {}

    def on_train_batch_end(self, batch, logs=None):
        Clock.at[batch] = time.perf_counter()


def step_ms(make):
    model.fit(make().with_options(options), steps_per_epoch=STEPS, epochs=1, verbose=0, callbacks=[Clock()])
    return 1000 * (Clock.at[STEPS - 1] - Clock.at[SKIPPED]) / (STEPS - 1 - SKIPPED)


if more[:1] == ["--turns"]:
    forms = [make, ARMS[more[2]][0]]
    for turn in range(int(more[1])):
        taken = {form: step_ms(form) for form in (forms if turn % 2 else forms[::-1])}
        print(*(taken[form] for form in forms), flush=True)
else:
    print(step_ms(make))
