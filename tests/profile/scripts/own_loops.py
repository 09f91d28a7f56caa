"""Training loops of a user's own that feed arrays to their own steps, one function a kind; each prints a digest as its end.

    python own_loops.py eager in_a_function ...

2 epochs of 20 batches each. Seeds are global only, with dropout in use.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kinds_of_loops import BATCH, BATCHES, EPOCHS, WIDTH, arrays_of_data, data, loss_of, network

PER_UPDATE = 4  # gradients that are added up


def batches() -> Iterator[Any]:
    """Yield the batches of all epochs, made with NumPy between the steps."""
    x, y = arrays_of_data()
    numbers = np.random.default_rng(2)
    for _ in range(EPOCHS):
        order = numbers.permutation(len(x))
        for start in range(0, BATCHES * BATCH, BATCH):
            some = order[start : start + BATCH]
            yield x[some] + numbers.normal(size=(BATCH, WIDTH)).astype("float32") * 0.01, y[some]


def step_of(model: Any) -> Callable[[Any, Any], Any]:
    """Return one whole step: forward, gradient, update."""
    optimizer, loss = keras.optimizers.Adam(), loss_of()

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return value

    return step


def eager(model: Any) -> list[Any]:
    optimizer, loss, losses = keras.optimizers.Adam(), loss_of(), []
    for x, y in batches():
        with tf.GradientTape() as tape:
            value = loss(y, model(tf.constant(x), training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(value))
    return losses


def in_a_function(model: Any) -> list[Any]:
    step, losses = tf.function(step_of(model)), []
    for x, y in batches():
        losses.append(float(step(tf.constant(x), tf.constant(y))))
    return losses


def of_arrays(model: Any) -> list[Any]:
    step, losses = tf.function(step_of(model)), []
    for x, y in batches():
        losses.append(step(x, y).numpy())
    return losses


def compiled_by_xla(model: Any) -> list[Any]:
    step, losses = tf.function(step_of(model), jit_compile=True), []
    for x, y in batches():
        losses.append(float(step(x, y)))
    return losses


def of_each_model(model: Any) -> list[Any]:
    other = network()
    steps, losses = [tf.function(step_of(each)) for each in (model, other)], []
    for number, (x, y) in enumerate(batches()):
        losses.append(float(steps[number % 2](x, y)))
    return [*losses, *(each.tolist() for each in other.get_weights())]


class Trainer:
    def __init__(self, model: Any) -> None:
        self.run = step_of(model)

    @tf.function
    def whole(self, x: Any, y: Any) -> Any:
        return self.inner(x, y)

    @tf.function
    def inner(self, x: Any, y: Any) -> Any:
        return self.run(x, y)


def method_in_a_method(model: Any) -> list[Any]:
    trainer, losses = Trainer(model), []
    for x, y in batches():
        losses.append(float(trainer.whole(x, y)))
    return losses


def traced_before(model: Any) -> list[Any]:
    step, losses = tf.function(step_of(model)), []
    step.get_concrete_function(tf.TensorSpec((BATCH, WIDTH)), tf.TensorSpec((BATCH,), tf.int64))
    for x, y in batches():
        losses.append(float(step(tf.constant(x), tf.constant(y))))
    return losses


def of_one_graph(model: Any) -> list[Any]:
    """Call the function's one graph by itself."""
    step, losses = tf.function(step_of(model)), []
    graph = step.get_concrete_function(tf.TensorSpec((BATCH, WIDTH)), tf.TensorSpec((BATCH,), tf.int64))
    for x, y in batches():
        losses.append(float(graph(tf.constant(x), tf.constant(y))))
    return losses


def without_keras(_: Any) -> list[Any]:
    weights, bias = tf.Variable(tf.random.normal((WIDTH, 3))), tf.Variable(tf.zeros(3))
    losses = []

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.nn.dropout(x, 0.1) @ weights + bias
            value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for variable, gradient in zip((weights, bias), tape.gradient(value, (weights, bias))):
            variable.assign_sub(0.1 * gradient)
        return value

    for x, y in batches():
        losses.append(float(step(tf.constant(x), tf.constant(y))))
    return [*losses, weights.numpy().tolist(), bias.numpy().tolist()]


def accumulated(model: Any) -> list[Any]:
    """Update once for several gradients."""
    optimizer, loss, losses, kept = keras.optimizers.Adam(), loss_of(), [], []
    for number, (x, y) in enumerate(batches()):
        with tf.GradientTape() as tape:
            value = loss(y, model(tf.constant(x), training=True))
        kept.append(tape.gradient(value, model.trainable_variables))
        if number % PER_UPDATE == PER_UPDATE - 1:
            total = [sum(each) for each in zip(*kept)]
            optimizer.apply_gradients(zip(total, model.trainable_variables))
            kept.clear()
        losses.append(float(value))
    return losses


def two_tapes(model: Any) -> list[Any]:
    """Train two networks against each other in each step, on one line."""
    other, losses = network(), []
    first, second, loss = keras.optimizers.Adam(), keras.optimizers.SGD(0.01), loss_of()
    for x, y in batches():
        with tf.GradientTape() as one, tf.GradientTape() as two:
            made = model(tf.constant(x), training=True)
            value, rival = loss(y, made), tf.reduce_mean((other(tf.constant(x)) - made) ** 2)
        mine, its = model.trainable_variables, other.trainable_variables
        ours, theirs = one.gradient(value, mine), two.gradient(rival, its)
        first.apply_gradients(zip(ours, mine)), second.apply_gradients(zip(theirs, its))
        losses.append(float(value + rival))
    return losses


def two_functions(model: Any) -> list[Any]:
    other = network()
    one, two, losses = tf.function(step_of(model)), tf.function(step_of(other)), []
    for x, y in batches():
        losses.append(float(one(x, y)))
        losses.append(float(two(x, y)))
    return losses


def forward_in_a_function(model: Any) -> list[Any]:
    optimizer, loss, losses = keras.optimizers.Adam(), loss_of(), []
    forward = tf.function(lambda x, y: loss(y, model(x, training=True)))
    for x, y in batches():
        with tf.GradientTape() as tape:
            value = forward(x, y)
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(value))
    return losses


def gradient_in_a_function(model: Any) -> list[Any]:
    optimizer, loss, losses = keras.optimizers.Adam(), loss_of(), []

    @tf.function
    def gradients(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        return value, tape.gradient(value, model.trainable_variables)

    for x, y in batches():
        value, found = gradients(x, y)
        optimizer.apply_gradients(zip(found, model.trainable_variables))
        losses.append(float(value))
    return losses


def evaluated_between(model: Any) -> list[Any]:
    """Look at a tf.data pipeline behind each epoch: what it fetches is no step."""
    step, losses, held_out = tf.function(step_of(model)), [], data()
    for number, (x, y) in enumerate(batches()):
        losses.append(float(step(x, y)))
        if number % BATCHES == BATCHES - 1:
            losses.extend(float(tf.reduce_sum(model(some))) for some, _ in held_out)
    return losses


def main(names: list[str]) -> None:
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
