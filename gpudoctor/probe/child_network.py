"""The reference network and its data: 784-128-64-10, Adam, batch 128, 60,000 seeded images that can be learned.

The step is one tf.function around GradientTape and not `train_on_batch`: that one waits for the metrics on the host after
every step and chooses XLA by itself (Keras 3), so it would time the host and differ between devices.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import contextlib
import inspect
import time
from typing import Any, Callable, Protocol, Sequence

from .child_bench import Bench

IMAGES = 60_000
SIDE = 28
PIXELS = SIDE * SIDE
CLASSES = 10
BATCH = 128
WIDTHS = (128, 64)
SEED = 20_260
# A class is a pattern of 7x7 blocks under noise of 0-127; at this contrast the loss starts at ln 10 and is below 0.01 after
# one epoch (measured, TensorFlow 2.4 to 2.21).
CONTRAST = 40
NOISE_POOL = 4096  # distinct noise images; drawing 60,000 costs half a second and teaches nothing more
LOSS_SCALE = 1024.0  # mixed precision only; a power of two, so scaling and unscaling are exact


def images(bench: Bench) -> tuple[Any, Any]:
    """Return the images (uint8) and labels (int32), made once a process, the same on every machine."""
    made = bench.cache.get("images")
    if made is None:
        np = bench.np
        draw = np.random.default_rng(SEED)
        blocks = draw.integers(0, 2, size=(CLASSES, 7, 7), dtype=np.uint8) * CONTRAST
        labels = draw.integers(0, CLASSES, size=IMAGES).astype(np.int32)
        noise = draw.integers(0, 128, size=(NOISE_POOL, SIDE, SIDE), dtype=np.uint8)
        pictures = blocks.repeat(4, axis=1).repeat(4, axis=2)[labels]
        pictures += noise[np.arange(IMAGES) % NOISE_POOL]
        made = bench.cache["images"] = (pictures, labels)
    return made


def batches(bench: Bench, size: int = BATCH) -> Callable[[int], tuple[Any, Any]]:
    """Return a function that gives batch number i (it starts anew after the last)."""
    pictures, labels = images(bench)
    count = len(labels) // size

    def batch(number: int) -> tuple[Any, Any]:
        begin = number % count * size
        return pictures[begin : begin + size], labels[begin : begin + size]

    return batch


class Network:
    """A model with its optimizer and compiled step. `place`: a device to force, '' leaves the choice to TensorFlow."""

    def __init__(
        self,
        bench: Bench,
        *,
        widths: Sequence[int] = WIDTHS,
        policy: str = "float32",
        place: str = "",
        raw: bool = True,
        jit: bool | None = None,
    ) -> None:
        """Build it. `raw`: the step takes uint8 images and scales them itself, else float32 ready for the network.

        `jit`: compile the step with XLA or not; None leaves that to TensorFlow.
        """
        self.bench = bench
        self.place = place
        self.scale = LOSS_SCALE if policy == "mixed_float16" else 1.0
        with self._placed():
            self.model = self._build(widths, policy)
            self.optimizer = bench.tf.keras.optimizers.Adam()
            if hasattr(self.optimizer, "build"):
                self.optimizer.build(self.model.trainable_variables)
        self._trained = self._scaled_step if raw else self._step
        options = {} if jit is None else {jit_option(bench.tf): jit}
        self._compiled = bench.tf.function(self._trained, input_signature=self._signature(raw), **options)

    def step(self, pictures: Any, labels: Any) -> Any:
        """Train on one batch; return the loss, and where the network is not `raw` the probabilities beside it."""
        with self._placed():  # also for the feeding: NumPy arrays would go to the GPU first
            return self._compiled(pictures, labels)

    def step_eagerly(self, pictures: Any, labels: Any) -> Any:
        """Train on one batch of tensors op by op, without a graph."""
        with self._placed():
            return self._trained(pictures, labels)

    def _placed(self) -> Any:
        return self.bench.tf.device(self.place) if self.place else contextlib.nullcontext()

    def _build(self, widths: Sequence[int], policy: str) -> Any:
        keras = self.bench.tf.keras
        keras.utils.set_random_seed(SEED) if hasattr(keras.utils, "set_random_seed") else self.bench.tf.random.set_seed(
            SEED
        )
        precision = keras.mixed_precision.Policy(policy)
        layers = [keras.Input((SIDE, SIDE), dtype="float32"), keras.layers.Flatten(dtype=precision)]
        layers += [keras.layers.Dense(width, activation="relu", dtype=precision) for width in widths]
        # The softmax stays in float32 also under mixed precision, as TensorFlow's guide asks.
        layers.append(keras.layers.Dense(CLASSES, activation="softmax", dtype="float32"))
        return keras.Sequential(layers)

    def _signature(self, raw: bool) -> list[Any]:
        tf = self.bench.tf
        kind = tf.uint8 if raw else tf.float32
        return [tf.TensorSpec([None, SIDE, SIDE], kind), tf.TensorSpec([None], tf.int32)]

    def _scaled_step(self, pictures: Any, labels: Any) -> Any:
        return self._step(self.bench.tf.cast(pictures, self.bench.tf.float32) / 255.0, labels)[0]

    def _step(self, pictures: Any, labels: Any) -> tuple[Any, Any]:
        """Train on one batch; return the loss and the probabilities."""
        tf = self.bench.tf
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            shares = self.model(pictures, training=True)
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(labels, shares))
            scaled = loss * self.scale
        gradients = [each / self.scale for each in tape.gradient(scaled, variables)]
        self.optimizer.apply_gradients(zip(gradients, variables))
        return loss, shares

    def devices_of(self, loss: Any) -> list[Any]:
        """Return the tensors that tell where a step ran: its loss and the first weights, which it wrote."""
        weights = self.model.trainable_variables[0]
        return [
            loss,
            weights if callable(weights.value) else weights.value,
        ]  # Keras 2: a tf.Variable; Keras 3 wraps one


def jit_option(tf: Any) -> str:
    """Return the name of tf.function's XLA option: it was an experiment up to TensorFlow 2.4."""
    known = inspect.signature(tf.function).parameters
    return "jit_compile" if "jit_compile" in known else "experimental_compile"


class Steps(Protocol):
    """What trains on one batch at each call."""

    def step(self, pictures: Any, labels: Any) -> Any:
        """Train; return the loss."""
        ...


def timed_steps(network: Steps, batch: Callable[[int], tuple[Any, Any]], steps: int) -> Callable[[], float]:
    """Return a window: that many steps, then a wait for the device; seconds a step."""
    state: dict[str, int] = {"next": 0}

    def window() -> float:
        begun = time.perf_counter()
        loss: Any = None
        for number in range(state["next"], state["next"] + steps):
            loss = network.step(*batch(number))
        float(loss)  # reading the value is the wait
        state["next"] += steps
        return (time.perf_counter() - begun) / steps

    return window
