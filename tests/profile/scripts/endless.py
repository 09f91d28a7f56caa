"""Trains until it is killed."""

import keras
import numpy as np

x, y = np.zeros((64, 8), "float32"), np.zeros((64, 1), "float32")
model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.train_on_batch(x, y)
print("ready", flush=True)
while True:
    model.train_on_batch(x, y)
