"""Warn at every height of the stack, once below each hook of the recorder: where the lines point must not depend on it."""

import sys
import warnings

import keras
import numpy as np
import tensorflow as tf

HIGHEST = 45
warnings.simplefilter("ignore")
seen = set()


def warn(name):
    if name not in seen:
        seen.add(name)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for level in range(1, HIGHEST):
                warnings.warn(f"{name} {level}", stacklevel=level)


def mapped(x):
    warn("map")
    return x


def from_python(x):
    warn("py_function")
    return x


def batches():
    warn("generator")
    for each in range(3):
        yield each


class Warns(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        warn("train begins")

    def on_epoch_begin(self, epoch, logs=None):
        warn("epoch begins")

    def on_train_batch_end(self, batch, logs=None):
        warn("batch ends")

    def on_test_begin(self, logs=None):
        warn("test begins")

    def on_epoch_end(self, epoch, logs=None):
        warn("epoch ends")

    def on_predict_end(self, logs=None):
        warn("predict ends")


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        warn("call")
        return self.dense(x)

    def train_step(self, data):
        warn("train step")
        return super().train_step(data)


@tf.function
def scanned(ds):
    total = tf.constant(0, tf.int64)
    for each in ds:
        warn("loop in a function")
        total += each
    return total


@tf.function
def seeded():
    ds = tf.data.Dataset.range(2)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        ds = ds.map(lambda x: x + tf.random.uniform((), maxval=2, dtype=tf.int64))
    return ds.reduce(tf.constant(0, tf.int64), lambda x, y: x + y)


def applied(ds):
    warn("apply")
    return ds.take(2)


def data():
    count = tf.data.Dataset.range(3)
    list(count.map(mapped))
    list(count.map(lambda x: tf.py_function(from_python, [x], tf.int64)))
    list(tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec((), tf.int64)))
    list(count.apply(applied))
    scanned(count)
    tf.random.set_seed(1)
    seeded()
    tf.config.run_functions_eagerly(True)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        list(count.map(lambda x: x + 1))
    tf.config.run_functions_eagerly(False)


def training():
    x, y = np.zeros((8, 4), "float32"), np.zeros((8, 1), "float32")
    model = Model()
    model.compile("sgd", "mse")
    model.fit(x, y, batch_size=4, epochs=2, verbose=0, validation_data=(x, y), callbacks=[Warns()])
    model.predict(x, verbose=0, callbacks=[Warns()])
    seen.clear()
    model.compile("sgd", "mse", run_eagerly=True)
    model.train_on_batch(x, y)


data()
training()
sys.stderr.write("ended\n")
