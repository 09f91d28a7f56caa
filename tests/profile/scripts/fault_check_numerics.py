"""Fault: debug-mode. Each operation's numbers are checked, since a NaN was looked for once."""

import tensorflow as tf

from parts import compiled, convolutions, images

tf.debugging.enable_check_numerics()
x, y = images(512)
compiled(convolutions(width=8)).fit(x, y, batch_size=16, epochs=4, verbose=0)
