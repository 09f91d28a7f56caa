"""Healthy: arrays in fit, with validation."""

from parts import compiled, convolutions, images

x, y = images(2048)
compiled(convolutions(), metrics=["accuracy"]).fit(x, y, batch_size=64, epochs=4, verbose=0, validation_split=0.1)
