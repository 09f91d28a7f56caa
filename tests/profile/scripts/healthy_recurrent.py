"""Healthy: an LSTM on sequences in memory."""

import keras
import numpy as np

from parts import compiled

random = np.random.default_rng(0)
x, y = random.random((768, 40, 16), dtype="float32"), random.integers(0, 4, 768)
model = compiled(keras.Sequential([keras.layers.Input((40, 16)), keras.layers.LSTM(48), keras.layers.Dense(4)]))
model.fit(x, y, batch_size=32, epochs=5, verbose=0)
