"""Fault: float64. The whole model computes in double precision."""

import keras

from parts import compiled, convolutions, images

keras.config.set_floatx("float64")
keras.config.set_dtype_policy("float64")
x, y = images(768)
model = compiled(convolutions())
model.fit(x.astype("float64"), y, batch_size=32, epochs=4, verbose=0)  # <- here
