"""A model that `fit` feeds from what Keras wraps itself: argument 1 says what. Keras 2 and 3."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tensorflow as tf

keras = tf.keras
KERAS_2 = not hasattr(keras.utils, "PyDataset")
BATCHES, EPOCHS, SIDE = 40, 3, 64


class Augmented(keras.utils.Sequence if KERAS_2 else keras.utils.PyDataset):
    def __len__(self) -> int:
        return BATCHES

    def __getitem__(self, index: int) -> Any:
        x = np.zeros((16, SIDE), "float32")
        for row in range(16):
            x[row] = np.sort(np.cos(np.arange(10_000) * index))[:SIDE]
        return x, np.arange(16) % 3


def endless() -> Any:
    while True:
        yield Augmented()[1]


def fit(model: Any, kind: str) -> None:
    workers = {"workers": 2} if kind == "threads" else {}
    if kind == "generator":
        model.fit(endless(), steps_per_epoch=BATCHES, epochs=EPOCHS, verbose=0)
    elif KERAS_2:
        model.fit(Augmented(), epochs=EPOCHS, verbose=0, **workers)
    else:
        model.fit(Augmented(**workers), epochs=EPOCHS, verbose=0)


def main() -> None:
    model = keras.Sequential([keras.layers.Input((SIDE,)), keras.layers.Dense(3)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    fit(model, sys.argv[1])


main()
