"""Trains a little, then saves, exports, clones, copies and pickles, and prints what the files and copies hold."""

import contextlib
import copy
import io
import pathlib
import pickle
import sys

import keras
import numpy as np
import tensorflow as tf


class Own(tf.Module):
    def __init__(self):
        self.weight = tf.Variable(2.0)

    @tf.function(input_signature=[])
    def total(self):
        total = 0.0
        for value in iter(tf.data.Dataset.range(5)):
            total += self.weight * tf.cast(value, tf.float32)
        return total


folder = pathlib.Path(sys.argv[1])
x, y = np.random.default_rng(0).random((64, 8)).astype("float32"), np.zeros((64, 1), "float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(8), epochs=2, verbose=0)
model.save(folder / "model.keras")
with contextlib.redirect_stdout(io.StringIO()):  # Keras 2 has no `verbose`
    model.export(folder / "exported")
tf.saved_model.save(model, folder / "saved")
tf.saved_model.save(Own(), folder / "own")
copies = [keras.models.clone_model(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
for each in copies:
    each.compile("adam", "mse")
    each.fit(x, y, verbose=0)
tf.train.Checkpoint(model=model).save(str(folder / "checkpoint"))
again = keras.models.load_model(folder / "model.keras")
print(np.allclose(again.predict(x, verbose=0), model.predict(x, verbose=0)), len(model.variables), len(model.layers))
own = tf.saved_model.load(folder / "own")
print(float(own.total()))
for file in sorted(folder.rglob("*")):
    if file.is_file():
        data = file.read_bytes()
        print(file.relative_to(folder), b"gpudoctor" in data, b"Timestamp" in data)
