"""Two trainings in threads of the script's own, which waits for them; without a thread to be had for the recorder: `alone`."""

import _thread
import sys
import threading

import keras
import numpy as np

x, y = np.zeros((256, 8), "float32"), np.zeros((256, 1), "float32")
start = _thread.start_new_thread


def refused(function, *given):
    if function.__module__.startswith("_gpudoctor"):
        raise RuntimeError("can't start new thread")
    return start(function, *given)


if sys.argv[1:] == ["alone"]:
    _thread.start_new_thread = refused


class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        sum(range(100_000))


def train():
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, batch_size=8, epochs=12, verbose=0, callbacks=[Slow()])


threads = [threading.Thread(target=train) for _ in range(2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print("done")
