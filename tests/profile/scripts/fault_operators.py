"""Fault: numpy-hot-loop. Arithmetic on whole arrays between the steps: operators, and no call on the line that holds the loop."""

import keras
import numpy as np
import tensorflow as tf

from parts import convolutions, images


def brightened(pictures, gain):
    rows = len(pictures)
    wide = np.repeat(pictures, 24, axis=0)
    wide = wide * gain + wide * wide * 0.02 + wide**2 * 0.01 - wide * 0.3  # <- here
    return np.clip(wide[:rows], 0.0, 1.0)


model = convolutions(width=8)
optimizer = keras.optimizers.SGD(0.01)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for _ in range(8):
    for x, y in tf.data.Dataset.from_tensor_slices(images(512)).batch(16):
        step(tf.constant(brightened(x.numpy(), 1.01)), y)
