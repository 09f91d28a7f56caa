"""The `gradcheck` trial: one batch's gradients against a float64 NumPy back-propagation, each layer by itself.

Every layer is computed anew in float64 from the device's *own* inputs of that layer. One would rather compare the end of
the whole chain, but rounding grows along it (under float16 a true gradient differs by 2 % of its largest entry, measured),
so a tolerance for the chain hides real faults. For one layer the rounding error of a product is known in advance, entry
by entry, and nothing but that bound is allowed. The error of the whole chain is told beside it, not judged.

The bounds and their sources stand in `child_rounding`.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from .child_bench import Bench, Json, arm, first_line, result, where
from .child_network import BATCH, CLASSES, LOSS_SCALE, PIXELS, SEED, WIDTHS, images
from .child_rounding import FLOAT16, FLOAT32, SOFTMAX_ROUNDINGS, Format, float32_as, gamma, product_bound

SIZES = (PIXELS, *WIDTHS, CLASSES)
LAYERS = len(SIZES) - 1
SMALLEST = 2.0**-1000  # where the bound is 0 (a pixel that is black in every image) only an exact 0 passes


class Problem(NamedTuple):
    """Weights, biases and one batch in float32, the same on every machine."""

    weights: list[Any]
    biases: list[Any]
    pictures: Any
    labels: Any


class Pass(NamedTuple):
    """What the device made of one batch, as float64 arrays, a layer each: sums (before the relu) and gradients."""

    sums: list[Any]
    sum_gradients: list[Any]
    weight_gradients: list[Any]
    bias_gradients: list[Any]
    device: str


class Reading(NamedTuple):
    """One array compared: the entry nearest to its bound, all relative to the array's largest entry."""

    name: str
    error: float
    bound: float
    widest: float
    over: float
    entry: tuple[int, ...]


def gradcheck(bench: Bench) -> Json:
    """Compare the gradients of one batch in float32, under XLA, and in mixed precision."""
    given = problem(bench)
    arms: list[Json] = []
    notes: list[str] = []
    faults: list[str] = []
    values: dict[str, float] = {}
    nearest: list[Reading] = []
    ran_on = bench.device
    names = ("float32", "jit", "mixed", "mixed_jit") if bench.full else ("float32", "jit", "mixed")
    for done, name in enumerate(names):
        try:
            made = device_pass(bench, name, given)
        except (bench.tf.errors.OpError, ValueError, TypeError) as error:
            notes.append(f"{name} not checked: {first_line(error)}")
            continue
        ran_on = made.device
        readings = judge(bench, formats(bench, name), made, given)
        nearest.append(_nearest(readings))
        faults += [_fault(name, each) for each in readings if each.over > 1]
        values.update(_values(bench, name + ".", readings, made, given))
        arms.append(arm(name, steps=1))
        bench.advance((done + 1) / len(names))
    if not nearest:
        return result(bench, status="crashed", reason="no arm ran: " + "; ".join(notes), notes=notes)
    worst = _nearest(nearest)
    values.update({"max_relative_error": worst.error, "tolerance": worst.bound})
    values["detectable_share"] = max(value for key, value in values.items() if key.endswith(".detectable_share"))
    notes.append("float32 products are computed in " + float32_as(bench).name)
    status = "failed" if faults else "ok"
    return result(
        bench, status=status, reason="; ".join(faults[:3]), device=ran_on, arms=arms, values=values, notes=notes
    )


def problem(bench: Bench) -> Problem:
    """Draw the weights of a new network and take the first batch."""
    np = bench.np
    draw = np.random.default_rng(SEED)
    weights: list[Any] = []
    biases: list[Any] = []
    for rows, columns in zip(SIZES[:-1], SIZES[1:]):
        limit = (6.0 / (rows + columns)) ** 0.5  # Glorot's, as Keras starts a Dense layer
        weights.append(draw.uniform(-limit, limit, size=(rows, columns)).astype(np.float32))
        biases.append(draw.uniform(-0.1, 0.1, size=columns).astype(np.float32))
    pictures, labels = images(bench)
    flat = pictures[:BATCH].reshape(BATCH, PIXELS).astype(np.float32) / np.float32(255)
    return Problem(weights, biases, flat, labels[:BATCH])


def device_pass(bench: Bench, name: str, given: Problem) -> Pass:
    """Run the batch forward and back on the device and fetch everything it made."""
    tf = bench.tf
    mixed = name.startswith("mixed")
    scale = LOSS_SCALE if mixed else 1.0

    def train(*fed: Any) -> tuple[list[Any], ...]:
        return _forward_and_back(tf, mixed, scale, Problem(*fed))

    compiled = _function(tf, train, jit=name.endswith("jit"))
    weights, biases = ([tf.constant(each) for each in group] for group in (given.weights, given.biases))
    made = compiled(weights, biases, given.pictures, given.labels)
    fetched = [[each.numpy().astype(bench.np.float64) for each in group] for group in made]
    back = [[each / scale for each in group] for group in fetched[1:]]
    return Pass(fetched[0], back[0], back[1], back[2], where(made[2]))


def _function(tf: Any, call: Any, *, jit: bool) -> Any:
    if not jit:
        return tf.function(call)
    try:
        return tf.function(call, jit_compile=True)
    except TypeError:  # TensorFlow 2.4
        return tf.function(call, experimental_compile=True)


def _forward_and_back(tf: Any, mixed: bool, scale: float, given: Problem) -> tuple[list[Any], ...]:
    """Train-like pass. In mixed precision the hidden products are float16; biases are added in float32.

    Keras adds them in float16. Their gradient is then a float16 sum over the batch whose rounding nobody bounds below
    n units, and a wrong bias gradient would have to be off by a fifth to be seen.
    """
    sums: list[Any] = []
    with tf.GradientTape() as tape:
        tape.watch(given.weights)
        tape.watch(given.biases)
        value = given.pictures
        for layer, (weight, bias) in enumerate(zip(given.weights, given.biases)):
            kind = tf.float16 if mixed and layer < LAYERS - 1 else tf.float32
            product = tf.matmul(tf.cast(value, kind), tf.cast(weight, kind))
            sums.append(tf.nn.bias_add(tf.cast(product, tf.float32), bias))
            value = tf.nn.relu(sums[-1])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=given.labels, logits=sums[-1])
        loss = tf.reduce_mean(losses) * scale
    back = tape.gradient(loss, [*sums, *given.weights, *given.biases])
    return sums, back[:LAYERS], back[LAYERS : 2 * LAYERS], back[2 * LAYERS :]


def formats(bench: Bench, name: str) -> list[Format]:
    """Return the format of each layer's products in that arm."""
    plain = float32_as(bench)
    return [FLOAT16] * (LAYERS - 1) + [plain] if name.startswith("mixed") else [plain] * LAYERS


def judge(bench: Bench, kinds: Sequence[Format], made: Pass, given: Problem) -> list[Reading]:
    """Compare every array that the device made with its float64 counterpart."""
    np = bench.np
    readings: list[Reading] = []
    for layer in range(LAYERS):
        kind, number = kinds[layer], layer + 1
        weight, bias = given.weights[layer].astype(np.float64), given.biases[layer].astype(np.float64)
        fed = given.pictures.astype(np.float64) if layer == 0 else np.maximum(made.sums[layer - 1], 0.0)
        back = made.sum_gradients[layer]
        scale = LOSS_SCALE if kind is FLOAT16 else 1.0
        total = fed @ weight + bias
        slack = product_bound(np, kind, fed, weight) + gamma(2, kind.total) * (np.abs(total) + np.abs(bias))
        readings.append(_read(np, f"layer {number} forward", made.sums[layer], total, slack))
        slack = product_bound(np, kind, fed.T, back * scale) / scale
        readings.append(_read(np, f"layer {number} W", made.weight_gradients[layer], fed.T @ back, slack))
        slack = gamma(BATCH, FLOAT32.total) * np.abs(back).sum(axis=0)
        readings.append(_read(np, f"layer {number} b", made.bias_gradients[layer], back.sum(axis=0), slack))
        if layer:
            readings.append(_read_back(np, layer, kind, made, weight))
    readings.append(_read_softmax(np, made, given.labels))
    return readings


def _read_back(np: Any, layer: int, kind: Format, made: Pass, weight: Any) -> Reading:
    """Compare the gradient that a layer hands down; near 0 the relu's own side may be rounded either way."""
    below, back = made.sums[layer - 1], made.sum_gradients[layer]
    scale = LOSS_SCALE if kind is FLOAT16 else 1.0
    handed = back @ weight.T
    slack = product_bound(np, kind, back * scale, weight.T) / scale + gamma(2, kind.outcome or kind.total) * np.abs(
        handed
    )
    edge = np.abs(below) <= gamma(PIXELS, kind.total) * np.abs(below).max()
    slack = slack + np.where(edge, np.abs(handed), 0.0)
    name = f"gradient handed from layer {layer + 1} to {layer}"
    return _read(np, name, made.sum_gradients[layer - 1], handed * (below > 0), slack * ((below > 0) | edge))


def _read_softmax(np: Any, made: Pass, labels: Any) -> Reading:
    """Compare the gradient of the loss by the last sums: (softmax - one-hot) / batch."""
    last = made.sums[-1]
    shifted = last - last.max(axis=1, keepdims=True)
    shares = np.exp(shifted)
    shares /= shares.sum(axis=1, keepdims=True)
    wanted = shares.copy()
    wanted[np.arange(len(labels)), labels] -= 1.0
    relative = gamma(SOFTMAX_ROUNDINGS + CLASSES, FLOAT32.total) + np.abs(shifted).max() * FLOAT32.total
    slack = (relative * shares + gamma(4, FLOAT32.total) * np.abs(wanted)) / len(labels)
    return _read(np, "gradient of the loss", made.sum_gradients[-1], wanted / len(labels), slack)


def _read(np: Any, name: str, made: Any, wanted: Any, slack: Any) -> Reading:
    error = np.abs(made - wanted)
    error = np.where(np.isfinite(error), error, np.inf)  # a NaN is not within any bound
    slack = np.where(np.isfinite(slack), slack, 0.0)
    over = error / np.maximum(slack, SMALLEST)
    entry = np.unravel_index(int(np.argmax(over)), over.shape)
    size = float(np.abs(wanted).max()) or 1.0
    place = tuple(int(each) for each in entry)
    return Reading(
        name,
        float(error[entry]) / size,
        float(slack[entry]) / size,
        float(slack.max()) / size,
        float(over[entry]),
        place,
    )


def _nearest(readings: Sequence[Reading]) -> Reading:
    """Return the reading nearest to its bound, or farthest above it."""
    return max(readings, key=lambda each: each.over)


def _fault(arm_name: str, reading: Reading) -> str:
    return f"{arm_name}, {reading.name}: entry {list(reading.entry)} is off by {reading.error:.2g} of the largest, rounding allows {reading.bound:.2g}"


def _values(bench: Bench, prefix: str, readings: Sequence[Reading], made: Pass, given: Problem) -> dict[str, float]:
    """Return an arm's figures. `detectable_share`: a larger change of any gradient is surely found."""
    nearest = _nearest(readings)
    ends = [each for each in readings if each.name.endswith((" W", " b"))]
    return {
        prefix + "max_relative_error": nearest.error,
        prefix + "tolerance": nearest.bound,
        prefix + "error_over_bound": nearest.over,
        prefix + "detectable_share": max(2 * each.widest for each in ends),
        prefix + "chain_relative_error": _chain_error(bench.np, made, given),
    }


def _chain_error(np: Any, made: Pass, given: Problem) -> float:
    """Return how far the device's gradients are from a float64 back-propagation of the whole chain."""
    weights = [each.astype(np.float64) for each in given.weights]
    inputs: list[Any] = []
    value = total = given.pictures.astype(np.float64)
    for weight, bias in zip(weights, given.biases):
        inputs.append(value)
        total = value @ weight + bias
        value = np.maximum(total, 0.0)
    shares = np.exp(total - total.max(axis=1, keepdims=True))
    back = shares / shares.sum(axis=1, keepdims=True)
    back[np.arange(BATCH), given.labels] -= 1.0
    back /= BATCH
    errors: list[float] = []
    for layer in reversed(range(LAYERS)):
        wanted = (inputs[layer].T @ back, back.sum(axis=0))
        for each, true in zip((made.weight_gradients[layer], made.bias_gradients[layer]), wanted):
            errors.append(float(np.abs(each - true).max() / np.abs(true).max()))
        back = (back @ weights[layer].T) * (inputs[layer] > 0)
    return max(errors)
