"""Fault: input-pipeline. A map of random TensorFlow operations, which TensorFlow does not make parallel by itself."""

import tensorflow as tf

from parts import compiled, convolutions, images


def noisy(image, label):
    large = tf.image.resize(image, (384, 384), method="bicubic")
    large = large + tf.random.normal(tf.shape(large), stddev=0.01)
    return tf.image.resize(large, (32, 32), method="area"), label


dataset = tf.data.Dataset.from_tensor_slices(images(256)).shuffle(256)
dataset = dataset.map(noisy)  # <- here
dataset = dataset.batch(8)
compiled(convolutions(width=4)).fit(dataset, epochs=4, verbose=0)
