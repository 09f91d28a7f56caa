"""Fault: numpy-hot-loop. A method of a trainer class works on each batch with NumPy before the compiled step."""

import numpy as np
import tensorflow as tf

from parts import convolutions, images
import keras


class Trainer:
    def __init__(self):
        self.model = convolutions(width=8)
        self.optimizer = keras.optimizers.Adam()
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss

    def whiten(self, x):
        x = x.numpy()
        return np.stack([np.sort(np.sort(x, axis=axis % 3 + 1), axis=1) for axis in range(30)]).mean(axis=0)  # <- here

    def fit(self, dataset, epochs):
        for _ in range(epochs):
            for x, y in dataset:
                self.step(tf.constant(self.whiten(x), tf.float32), y)


Trainer().fit(tf.data.Dataset.from_tensor_slices(images(512)).shuffle(512).batch(16), epochs=4)
