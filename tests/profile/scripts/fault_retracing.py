"""Fault: eager-or-tracing. A compiled step that is given the step's number as a Python value."""

import keras
import tensorflow as tf

from parts import convolutions, images

model = convolutions(width=8)
optimizer = keras.optimizers.SGD()
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
dataset = tf.data.Dataset.from_tensor_slices(images(320)).batch(8)


@tf.function
def step(x, y, number):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True)) * (1.0 + 0.001 * number)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for number, (x, y) in enumerate(dataset):
    step(x, y, number)  # <- here
