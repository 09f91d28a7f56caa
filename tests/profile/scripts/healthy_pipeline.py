"""Healthy: a pipeline of TensorFlow operations that runs in parallel and ahead."""

import tensorflow as tf

from parts import compiled, convolutions, images


def scaled(image, label):
    return tf.image.flip_left_right(image) * 2.0 - 1.0, label


dataset = (
    tf.data.Dataset.from_tensor_slices(images(1024)).shuffle(1024).map(scaled, num_parallel_calls=tf.data.AUTOTUNE)
)
dataset = dataset.batch(64).prefetch(tf.data.AUTOTUNE)
compiled(convolutions()).fit(dataset, epochs=6, verbose=0)
