"""Fault: eager-or-tracing. Only the forward pass is in a tf.function; the update of many small variables is not."""

import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential(
    [keras.Input((32,)), *(keras.layers.Dense(32, "relu") for _ in range(12)), keras.layers.Dense(1)]
)
optimizer = keras.optimizers.Adam()
forward = tf.function(lambda x, y: tf.reduce_mean((model(x, training=True) - y) ** 2))
numbers = np.random.default_rng(0)
x, y = numbers.random((16, 32), "float32"), numbers.random((16, 1), "float32")
for _ in range(200):
    with tf.GradientTape() as tape:
        loss = forward(x, y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # <- here
