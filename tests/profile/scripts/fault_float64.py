"""Fault: float64. The whole model computes in double precision."""

import keras

from parts import compiled, convolutions, images

keras.backend.set_floatx("float64")
keras.mixed_precision.set_global_policy("float64")
x, y = images(768)
model = compiled(convolutions())
model.fit(x.astype("float64"), y, batch_size=32, epochs=4, verbose=0)  # <- here
