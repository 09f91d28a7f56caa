"""Fault: eager-or-tracing. A training loop of one's own without any tf.function."""

import keras
import tensorflow as tf

from parts import convolutions, images

model = convolutions(width=8)
optimizer = keras.optimizers.Adam()
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
dataset = tf.data.Dataset.from_tensor_slices(images(512)).batch(8)
for _ in range(2):
    for x, y in dataset:  # <- here
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
