"""The loss becomes NaN in batch 30 of 40, which holds a NaN: in fit, in its second epoch, or in train_on_batch."""

import sys

import keras
import numpy as np

x = np.random.default_rng(0).random((40, 8, 4)).astype("float32")
y = np.zeros((40, 8, 1), "float32")
bad = x.copy()
bad[29] = np.nan
keras.utils.set_random_seed(0)
if sys.argv[1] == "float16":
    keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
if sys.argv[1] == "train_on_batch":
    for inputs, labels in zip(bad, y, strict=True):
        model.train_on_batch(inputs, labels)
else:
    first = x if sys.argv[1] == "second_epoch" else bad
    rounds = np.concatenate([first, bad]).reshape(-1, 4)
    model.fit(
        rounds, np.zeros((640, 1), "float32"), batch_size=8, steps_per_epoch=40, epochs=2, shuffle=False, verbose=0
    )
