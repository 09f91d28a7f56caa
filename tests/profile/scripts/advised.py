"""An input pipeline with one thing missing, as it is and with the advised change: no_prefetch, prefetch, serial, parallel.

TensorFlow's own injections are off, so that what is missing stays missing; a second word, untuned, puts autotune off, too.
Prints the milliseconds of a steady step.
"""

import sys
import time

import keras
import numpy as np
import tensorflow as tf

arm = sys.argv[1]
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
options.autotune.enabled = sys.argv[2:] != ["untuned"]
options.experimental_optimization.inject_prefetch = False
options.experimental_optimization.map_parallelization = False
options.experimental_optimization.map_and_batch_fusion = False
if arm in {"no_prefetch", "prefetch"}:
    specs = (tf.TensorSpec((16, 256)), tf.TensorSpec((16,), tf.int32))
    ds = tf.data.Dataset.from_generator(batches, output_signature=specs)
    if arm == "prefetch":
        ds = ds.prefetch(tf.data.AUTOTUNE)
    width = 1400
else:
    ds = tf.data.Dataset.from_tensor_slices(pixels).repeat()
    if arm == "parallel":
        ds = ds.map(heavy, num_parallel_calls=tf.data.AUTOTUNE)
    else:
        ds = ds.map(heavy)
    ds = ds.batch(16)
    width = 64
ds = ds.with_options(options)

keras.utils.set_random_seed(0)
layers = [keras.layers.Dense(width, activation="relu") for _ in range(4)]
model = keras.Sequential([keras.layers.Input((256,)), *layers, keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


class Clock(keras.callbacks.Callback):
    at = 0.0

    def on_train_batch_end(self, batch, logs=None):
        if batch == SKIPPED:
            Clock.at = time.perf_counter()


model.fit(ds, steps_per_epoch=STEPS, epochs=1, verbose=0, callbacks=[Clock()])
print(1000 * (time.perf_counter() - Clock.at) / (STEPS - 1 - SKIPPED))
