"""Trains long enough for a profiler window and prints a digest of losses and weights; `profiled`: the script profiles, too.

A fixed number of steps that hold a sleep each: the window falls somewhere in them, whatever the machine's load.
"""

import hashlib
import os
import sys
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf

KIND, STEPS = sys.argv[1], 400
tf.config.threading.set_intra_op_parallelism_threads(1)
keras.utils.set_random_seed(1)


def batches():
    random = np.random.default_rng(0)
    for _ in range(STEPS):
        time.sleep(0.01)
        yield random.random((16, 8), dtype="float32"), random.random((16, 1), dtype="float32")


def dataset():
    shapes = tf.TensorSpec((16, 8)), tf.TensorSpec((16, 1))
    return tf.data.Dataset.from_generator(batches, output_signature=shapes).shuffle(4)


def ours():
    return getattr(sys.modules.get("_gpudoctor_agent.profiler_session"), "profiler", None)


class Profiles(keras.callbacks.Callback):
    """Starts the script's own profiler just when ours runs, else at step 350."""

    def __init__(self):
        super().__init__()
        self.at = 0

    def on_train_batch_end(self, batch, logs=None):
        window = ours()
        if not self.at and (batch > 350 or (window is not None and window.session is not None)):
            tf.profiler.experimental.start(tempfile.mkdtemp())
            self.at = batch
        elif self.at and batch == self.at + 5:
            tf.profiler.experimental.stop()


class Forks(keras.callbacks.Callback):
    """Forks just when a window is open; the child ends at once."""

    def on_train_batch_end(self, batch, logs=None):
        window = ours()
        if window is not None and window.session is not None:
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)


model = keras.Sequential(
    [keras.layers.Input((8,)), keras.layers.Dense(32, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)]
)
many = 4 if KIND == "four_per_execution" else 1
model.compile("adam", "mse", steps_per_execution=many, jit_compile=KIND == "compiled")
losses = []
if KIND in {"loop", "own", "own_eager"}:
    optimizer = keras.optimizers.Adam()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    step = step.python_function if KIND == "own_eager" else step
    losses = [float(step(x, y)) for x, y in (dataset() if KIND == "loop" else batches())]
elif KIND == "on_batch":
    losses = [float(model.train_on_batch(x, y)) for x, y in batches()]
else:
    callbacks = {"profiled": [Profiles()], "forks": [Forks()]}.get(KIND, [])
    steps = STEPS if many > 1 and keras.__version__.startswith("2.") else None  # Keras 2 must be told then
    losses = model.fit(dataset(), steps_per_epoch=steps, verbose=0, callbacks=callbacks).history["loss"]
digest = hashlib.sha1(np.asarray(losses, "float64").tobytes())
for weight in model.get_weights():
    digest.update(weight.tobytes())
print(digest.hexdigest())
