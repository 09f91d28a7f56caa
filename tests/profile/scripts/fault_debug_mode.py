"""Fault: debug-mode. All functions run eagerly, since a bug was looked for once."""

import tensorflow as tf

from parts import compiled, convolutions, images

tf.config.run_functions_eagerly(True)
x, y = images(512)
compiled(convolutions(width=8)).fit(x, y, batch_size=16, epochs=2, verbose=0)
