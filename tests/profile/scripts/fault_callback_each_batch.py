"""Fault: epoch-end-stall. A callback of each batch whose method calls another one, which works."""

import keras

from parts import compiled, convolutions, images


class Warmth(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = self.rate(batch)

    def rate(self, batch):
        return 1e-3 + sum(1e-9 * (number % 7) for number in range(400_000 + batch))  # <- here


x, y = images(1024)
compiled(convolutions()).fit(x, y, batch_size=32, epochs=8, verbose=0, callbacks=[Warmth()])
