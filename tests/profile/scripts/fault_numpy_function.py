"""Fault: numpy-hot-loop. NumPy in a function of another module that tf.data calls back for each example."""

import tensorflow as tf

import parts


def prepared(image, label):
    image = tf.numpy_function(parts.slow_augment, [image], tf.float32)
    image.set_shape((32, 32, 3))
    return image, label


dataset = tf.data.Dataset.from_tensor_slices(parts.images(320))
dataset = dataset.shuffle(100)
dataset = dataset.map(prepared)  # <- here
dataset = dataset.batch(8)
parts.compiled(parts.convolutions()).fit(dataset, epochs=5, verbose=0)
