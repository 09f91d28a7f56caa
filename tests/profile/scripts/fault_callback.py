"""Fault: epoch-end-stall. A callback that works for long at the end of each epoch."""

import keras
import numpy as np

from parts import compiled, convolutions, images


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        table = np.random.default_rng(epoch).random((600, 600))
        for _ in range(12):
            table = np.linalg.inv(table + np.eye(600))  # <- here


x, y = images(512)
compiled(convolutions()).fit(x, y, batch_size=32, epochs=6, verbose=0, callbacks=[Report()])
