"""Fault: fp16-nan. Weights and gradients in float16, and no loss is scaled."""

import keras

from parts import compiled, convolutions, images

keras.mixed_precision.set_global_policy("float16")
x, y = images(256)
model = compiled(convolutions(width=8))
model.fit(x, y, batch_size=32, epochs=4, verbose=0)  # <- here
