"""Fault: numpy-hot-loop. A loop without tf.data, in which NumPy makes each batch between two steps in a tf.function."""

import keras
import numpy as np
import tensorflow as tf

from parts import convolutions, images

model = convolutions(width=8)
optimizer = keras.optimizers.Adam()
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def batch(x, y, numbers):
    some = numbers.integers(0, len(x), 16)
    noise = np.sort(np.sort(numbers.normal(size=(16, 300, 300)), axis=1), axis=2).mean()  # <- here
    return x[some] + noise * 1e-3, y[some]


x, y = images(512)
numbers = np.random.default_rng(0)
for step in range(150):
    given = batch(x, y, numbers)
    train_step(tf.constant(given[0], tf.float32), tf.constant(given[1]))
