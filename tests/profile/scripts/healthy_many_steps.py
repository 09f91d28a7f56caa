"""Healthy: several steps in one execution."""

import tensorflow as tf

from parts import compiled, convolutions, images

dataset = tf.data.Dataset.from_tensor_slices(images(1024)).batch(32).repeat()
compiled(convolutions(), steps_per_execution=4).fit(dataset, steps_per_epoch=32, epochs=6, verbose=0)
