"""Fault: launch-bound. Two examples a step for a model of a few weights."""

import keras
import numpy as np
import tensorflow as tf

from parts import compiled

random = np.random.default_rng(0)
x, y = random.random((6000, 8), dtype="float32"), random.integers(0, 3, 6000)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(2).cache()
model = compiled(keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(3)]))
model.fit(dataset, epochs=2, verbose=0)  # <- here
