"""Fails in the way that its argument names."""

import sys

import keras
import numpy as np
import tensorflow as tf

calls = []


def third_fails(value):
    calls.append(1)
    if len(calls) > 3:
        raise ValueError("bad sample")
    return value


def network():
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def data():
    return tf.data.Dataset.from_tensor_slices((np.zeros((64, 8), "float32"), np.zeros((64, 1), "float32")))


def in_a_numpy_function():
    ds = data().map(lambda x, y: (tf.ensure_shape(tf.numpy_function(third_fails, [x], tf.float32), (8,)), y))
    network().fit(ds.batch(8), verbose=0)


def in_an_eager_loop():
    for x, y in data().map(lambda x, y: (tf.numpy_function(third_fails, [x], tf.float32), y)):
        pass


def while_a_map_is_traced():
    data().map(lambda x, y: (tf.reshape(x, (3, 3)), y))


def while_a_step_is_traced():
    class Own(keras.Model):
        def train_step(self, batch):
            raise RuntimeError("my step")

    model = Own()
    model.compile("adam")
    model.fit(data().batch(8), verbose=0)


def in_a_function():
    @tf.function
    def step(iterator):
        x, _ = next(iterator)
        tf.debugging.assert_greater(tf.reduce_sum(x), 1.0, "too small")
        return x

    step(iter(data().batch(8)))


def in_a_callback():
    class Stops(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            raise KeyError("mine")

    network().fit(data().batch(8), verbose=0, callbacks=[Stops()])


def on_a_batch():
    network().train_on_batch(np.zeros((4, 8)), np.zeros((5, 1)))


def at_the_end_of_an_iterator():
    iterator = iter(data().batch(64))
    next(iterator)
    iterator.get_next()


globals()[sys.argv[1]]()
