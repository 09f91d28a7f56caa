"""What the training scripts share: small data and models, seeded; a second module for a fault to stand in."""

import keras
import numpy as np


def images(count=512, side=32):
    random = np.random.default_rng(0)
    return random.random((count, side, side, 3), dtype="float32"), random.integers(0, 10, count)


def convolutions(side=32, width=16):
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((side, side, 3)),
            keras.layers.Conv2D(width, 3, activation="relu"),
            keras.layers.Conv2D(width, 3, strides=2, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(10),
        ]
    )


def compiled(model, **settings):
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), **settings)
    return model


def slow_augment(image):
    padded = np.pad(image, ((4, 4), (4, 4), (0, 0)))
    for _ in range(40):
        padded = np.sort(padded, axis=0)
    return padded[4:-4, 4:-4].astype("float32")
