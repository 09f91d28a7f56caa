"""Training scripts of a user, one function a kind of loop; each prints a digest of its losses and final weights.

    python kinds_of_loops.py fit arrays ...

2 epochs of 20 batches each. Seeds are global only, with dropout, shuffling and random operations in use.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import keras
import numpy as np
import tensorflow as tf

BATCHES, BATCH, WIDTH, EPOCHS = 20, 8, 16, 2
Losses = "list[Any]"


def data() -> Any:
    x, y = arrays_of_data()
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100)
    return ds.map(lambda a, b: (a + tf.random.normal([WIDTH]) * 0.01, b)).batch(BATCH)


def arrays_of_data() -> Any:
    numbers = np.random.default_rng(1)
    x = numbers.random((BATCHES * BATCH, WIDTH)).astype("float32")
    return x, numbers.integers(0, 3, BATCHES * BATCH)


def network() -> Any:
    inputs = keras.Input((WIDTH,))
    hidden = keras.layers.Dropout(0.3)(keras.layers.Dense(32, activation="relu")(inputs))
    return keras.Model(inputs, keras.layers.Dense(3)(hidden))


def loss_of() -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def compiled(model: Any, **settings: Any) -> Any:
    model.compile("adam", loss_of(), **settings)
    return model


def history(told: Any) -> list[Any]:
    return [told.history[name] for name in sorted(told.history)]


def fit(model: Any) -> list[Any]:
    return history(compiled(model).fit(data(), epochs=EPOCHS, verbose=0))


def arrays(model: Any) -> list[Any]:
    x, y = arrays_of_data()
    return history(compiled(model).fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0))


def generator(model: Any) -> list[Any]:
    x, y = arrays_of_data()

    def batches() -> Any:
        for start in range(0, BATCHES * BATCH, BATCH):
            yield x[start : start + BATCH], y[start : start + BATCH]

    shapes = (tf.TensorSpec((None, WIDTH)), tf.TensorSpec((None,), tf.int64))
    ds = tf.data.Dataset.from_generator(batches, output_signature=shapes)
    return history(compiled(model).fit(ds, epochs=EPOCHS, verbose=0))


class Sequence(getattr(keras.utils, "PyDataset", None) or keras.utils.Sequence):
    def __len__(self) -> int:
        return BATCHES

    def __getitem__(self, index: int) -> Any:
        x, y = arrays_of_data()
        return x[index * BATCH : (index + 1) * BATCH], y[index * BATCH : (index + 1) * BATCH]


def sequence(model: Any) -> list[Any]:
    return history(compiled(model).fit(Sequence(), epochs=EPOCHS, verbose=0, shuffle=False))


def sequence_workers(model: Any) -> list[Any]:
    settings = {"workers": 2, "use_multiprocessing": False}
    keras_2 = not hasattr(keras.utils, "PyDataset")
    ds = Sequence() if keras_2 else Sequence(**settings)
    return history(compiled(model).fit(ds, epochs=EPOCHS, verbose=0, shuffle=False, **(settings if keras_2 else {})))


def four_steps_per_execution(model: Any) -> list[Any]:
    return history(compiled(model, steps_per_execution=4).fit(data(), epochs=EPOCHS, verbose=0))


def seven_steps_per_execution(model: Any) -> list[Any]:
    return history(compiled(model, steps_per_execution=7).fit(data(), epochs=EPOCHS, verbose=0))


def compiled_by_xla(model: Any) -> list[Any]:
    return history(compiled(model, jit_compile=True).fit(data(), epochs=EPOCHS, verbose=0))


def run_eagerly(model: Any) -> list[Any]:
    return history(compiled(model, run_eagerly=True).fit(data(), epochs=EPOCHS, verbose=0))


def validated(model: Any) -> list[Any]:
    return history(compiled(model).fit(data(), epochs=EPOCHS, verbose=0, validation_data=data()))


def evaluated(model: Any) -> list[Any]:
    return [compiled(model).evaluate(data(), verbose=0)]


def predicted(model: Any) -> list[Any]:
    return compiled(model).predict(data().map(lambda a, b: a), verbose=0).ravel().tolist()


class OwnStep(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)

    def call(self, inputs: Any, training: bool = False) -> Any:
        return self.last(self.first(inputs))

    def train_step(self, batch: Any) -> Any:
        x, y = batch
        x = tf.nn.dropout(x, 0.2) + tf.random.uniform([WIDTH]) * 0.01
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables, strict=True)
        )
        return {"loss": loss}


def own_train_step(_: Any) -> list[Any]:
    model = OwnStep()
    told = history(compiled(model).fit(data(), epochs=EPOCHS, verbose=0))
    return [told, [each.tobytes() for each in model.get_weights()]]


def on_batch(model: Any) -> list[Any]:
    compiled(model)
    losses = []
    for _ in range(EPOCHS):
        for x, y in data().as_numpy_iterator():
            losses.append(float(model.train_on_batch(x, y)))
    return losses


def _step(model: Any) -> Any:
    optimizer, loss = keras.optimizers.Adam(), loss_of()
    optimizer.build(model.trainable_variables)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        optimizer.apply_gradients(
            zip(tape.gradient(value, model.trainable_variables), model.trainable_variables, strict=True)
        )
        return value

    return step


def eager_loop(model: Any) -> list[Any]:
    step, losses = _step(model), []
    for _ in range(EPOCHS):
        for x, y in data():
            losses.append(float(step(x, y)))
    return losses


def loop_around_a_function(model: Any) -> list[Any]:
    step, losses = tf.function(_step(model)), []
    for _ in range(EPOCHS):
        for x, y in data():
            losses.append(float(step(x, y)))
    return losses


def dataset_in_a_function(model: Any) -> list[Any]:
    step = _step(model)

    @tf.function
    def epoch(ds: Any) -> Any:
        total = 0.0
        for x, y in ds:
            total += step(x, y)
        return total

    ds, losses = data(), []
    for _ in range(EPOCHS):
        losses.append(float(epoch(ds)))
    return losses


def iterator_in_a_function(model: Any) -> list[Any]:
    step = _step(model)

    @tf.function
    def epoch(iterator: Any) -> Any:
        total = 0.0
        for x, y in iterator:
            total += step(x, y)
        return total

    ds, losses = data(), []
    for _ in range(EPOCHS):
        losses.append(float(epoch(iter(ds))))
    return losses


def next_in_a_function(model: Any) -> list[Any]:
    step = _step(model)

    @tf.function
    def one(iterator: Any) -> Any:
        x, y = next(iterator)
        return step(x, y)

    ds, losses = data(), []
    for _ in range(EPOCHS):
        iterator = iter(ds)
        for _ in range(BATCHES):
            losses.append(float(one(iterator)))
    return losses


def mirrored(_: Any) -> list[Any]:
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        model = compiled(network())
    return history(model.fit(data(), epochs=EPOCHS, verbose=0))


def main(names: list[str]) -> None:
    if "mirrored" in names:
        device = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    for name in names:
        keras.utils.set_random_seed(7)
        model = network()
        digest = hashlib.sha256(repr(globals()[name](model)).encode())
        for weights in model.get_weights():
            digest.update(weights.tobytes())
        sys.stdout.write(f"{name} {digest.hexdigest()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
