"""Measures peaks of the reference network on the CPU's BFC allocator: measure_peaks.py FOLDER PLAN.

PLAN is JSON: a list of [batch, parts]; parts > 1 adds up the gradients of so many pieces of the batch in a copy of the
weights before they are applied. Prints [[batch, parts, peak or null where it did not fit], ...].
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import bench, modules  # the target has no tests on its path

STEPS = 5


def accumulate(made: Any, network: Any, parts: int) -> Any:
    """Return a step that runs a batch in parts, as Keras's gradient_accumulation_steps does."""
    tf, variables = made.tf, network.model.trainable_variables
    sums = [tf.Variable(tf.zeros(each.shape), trainable=False) for each in variables]

    def piece(pictures: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            shares = network.model(tf.cast(pictures, tf.float32) / 255.0, training=True)
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(labels, shares)) / parts
        for kept, gradient in zip(sums, tape.gradient(loss, variables)):  # noqa: B905  # Python 3.8 has no strict
            kept.assign_add(gradient)
        return loss

    def apply() -> None:
        network.optimizer.apply_gradients(zip([each.read_value() for each in sums], variables))  # noqa: B905
        for each in sums:
            each.assign(tf.zeros_like(each))

    run, update = tf.function(piece, input_signature=network._signature(True)), tf.function(apply)

    def step(size: int) -> None:
        for _ in range(parts):
            float(run(*_batch(tf, size // parts)))
        update()

    return step


def _batch(tf: Any, size: int) -> Any:
    return tf.zeros([size, 28, 28], tf.uint8), tf.zeros([size], tf.int32)


def main(folder: str, plan: str) -> None:
    """Measure each of the plan."""
    made = bench(folder)
    (network_file,) = modules(folder, "child_network")
    network = network_file.Network(made)
    told: list[list[Any]] = []
    for size, parts in json.loads(plan):
        gc.collect()
        made.reset_peak()
        try:
            step = accumulate(made, network, parts) if parts > 1 else None
            fixed: Any = None if step else _batch(made.tf, size)
            for _ in range(STEPS):
                step(size) if step else float(network.step(*fixed))
            told.append([size, parts, made.peak_bytes()])
        except made.tf.errors.ResourceExhaustedError:
            told.append([size, parts, None])
        step = fixed = None
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
