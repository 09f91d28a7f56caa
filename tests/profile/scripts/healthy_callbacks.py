"""Healthy: the usual callbacks, which cost little."""

import pathlib
import tempfile

import keras

from parts import compiled, convolutions, images

folder = pathlib.Path(tempfile.mkdtemp())
x, y = images(6144)
callbacks = [
    keras.callbacks.ModelCheckpoint(folder / "best.weights.h5", save_weights_only=True, monitor="loss"),
    keras.callbacks.CSVLogger(folder / "log.csv"),
    keras.callbacks.EarlyStopping(monitor="loss", patience=3),
]
compiled(convolutions()).fit(x, y, batch_size=64, epochs=4, verbose=0, callbacks=callbacks)
