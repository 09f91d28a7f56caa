"""The `replicas` trial: MirroredStrategy over all idle GPUs, or over two devices of the CPU where there are not two.

Two devices of one CPU share its cores, so they tell whether data parallelism works here - every replica steps, batches are
split, gradients are added up to those of one device - and nothing about speed. Only real GPUs get a scaling ratio.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any, Callable, Sequence

from .child_bench import Bench, Inconclusive, Json, arm, result
from .child_network import BATCH, WIDTHS, Network, images, timed_steps
from .child_pairs import FEWEST_PAIRS, PAIRS, PAIRS_FULL, compare, interleave, mean

STEPS = 30
LEARNED_SHARE = 0.8  # of the first loss, after STEPS steps; measured: 0.06 of it is left (TensorFlow 2.21)
# Of a gradient's largest entry. Measured: at most 7e-7 apart (TensorFlow 2.12 to 2.21, CPU); a replica that is left out,
# or a mean in place of a sum, is off by half or more.
TOLERANCE = 1e-4
SCALING_WIDTH, SCALING_BATCH = (
    2048,
    2048,
)  # per replica; work that hides the exchange of 25 MB of gradients at PCIe's rate
SCALING_STEPS = 10


class Replicas:
    """The network under a strategy, its counter of steps, and the gradients before they are applied."""

    def __init__(self, bench: Bench, strategy: Any, *, widths: Sequence[int] = WIDTHS) -> None:
        """Build it inside the strategy's scope."""
        self.tf = bench.tf
        self.strategy = strategy
        with strategy.scope():
            self.network = Network(bench, widths=widths)
            self.counter = self.tf.Variable(
                0,
                dtype=self.tf.int64,
                trainable=False,
                synchronization=self.tf.VariableSynchronization.ON_READ,
                aggregation=self.tf.VariableAggregation.SUM,
            )
        self.gradients = self.tf.function(self._gradients)
        self.train = self.tf.function(self._train)

    def per_replica(self, value: Any) -> list[Any]:
        """Return a replica's value each."""
        return list(self.strategy.experimental_local_results(value))

    def _gradients(self, batch: Any, total: Any) -> Any:
        """Return the loss, the gradients as every replica sees them added up, and the examples of each replica."""
        return self.strategy.run(self._added_up, args=(*batch, total))

    def _added_up(self, pictures: Any, labels: Any, total: Any) -> Any:
        loss, gradients = loss_and_gradients(self.network, pictures, labels, total)
        context = self.tf.distribute.get_replica_context()
        added = context.all_reduce(self.tf.distribute.ReduceOp.SUM, gradients)
        return loss, added, self.tf.shape(pictures)[0]

    def _train(self, batch: Any, total: Any) -> Any:
        losses = self.strategy.run(self._step, args=(*batch, total))
        return self.strategy.reduce(self.tf.distribute.ReduceOp.SUM, losses, axis=None)

    def _step(self, pictures: Any, labels: Any, total: Any) -> Any:
        loss, gradients = loss_and_gradients(self.network, pictures, labels, total)
        self.network.optimizer.apply_gradients(zip(gradients, self.network.model.trainable_variables))
        self.counter.assign_add(1)
        return loss


def loss_and_gradients(network: Network, pictures: Any, labels: Any, total: Any) -> tuple[Any, list[Any]]:
    """Return a part's share of the mean loss over `total` examples, and its gradients."""
    tf = network.bench.tf
    with tf.GradientTape() as tape:
        shares = network.model(tf.cast(pictures, tf.float32) / 255.0, training=True)
        loss = tf.reduce_sum(tf.keras.losses.sparse_categorical_crossentropy(labels, shares)) / total
    return loss, tape.gradient(loss, network.model.trainable_variables)


def replicas(bench: Bench) -> Json:
    """Train on all places together and see that the work was shared and the gradients are those of one device."""
    tf = bench.tf
    with contextlib.suppress(AttributeError):  # before TensorFlow 2.4; its rounding would hide a small fault
        tf.config.experimental.enable_tensor_float_32_execution(False)
    made = Replicas(bench, tf.distribute.MirroredStrategy(bench.places))
    count = made.strategy.num_replicas_in_sync
    whole = BATCH * count
    faults, values = checked(bench, made, whole)
    on_gpus = bench.device == "GPU"
    values.update(replicas=count, gpus=len(bench.places) if on_gpus else 0, global_batch=whole)
    told: Json = {"arms": [], "comparisons": []}
    notes = [] if on_gpus else ["two devices of one CPU: it works or does not; no word about speed"]
    if on_gpus and not faults:
        told = scaling(bench)
    return result(
        bench,
        status="failed" if faults else "ok",
        reason="; ".join(faults),
        arms=told["arms"],
        comparisons=told["comparisons"],
        values=values,
        notes=notes,
    )


def checked(bench: Bench, made: Replicas, whole: int) -> tuple[list[str], dict[str, float]]:
    """Return what is wrong, and the figures that show it."""
    feed = _feed(bench, made.strategy, whole)
    total = bench.tf.constant(float(whole))
    first = next(feed)

    def on_one(pictures: Any, labels: Any) -> Any:
        return loss_and_gradients(made.network, pictures, labels, total)[1]

    alone = bench.tf.function(on_one)
    _, added, sizes = made.gradients(first, total)
    parts = [int(each) for each in made.per_replica(sizes)]
    apart = distance([made.per_replica(each) for each in added], alone(*_whole(bench, made, first)))
    losses = [float(made.train(next(feed), total)) for _ in range(STEPS)]
    steps = [int(each) for each in made.per_replica(made.counter)]
    bench.advance(0.7)
    values = {
        "fewest_steps": min(steps),
        "most_steps": max(steps),
        "smallest_part": min(parts),
        "examples_per_step": sum(parts),
        "gradient_error": apart,
        "tolerance": TOLERANCE,
        "loss_first": losses[0],
        "loss_last": losses[-1],
    }
    return _faults(values, parts, steps, made.strategy.num_replicas_in_sync), values


def _faults(values: dict[str, float], parts: Sequence[int], steps: Sequence[int], count: int) -> list[str]:
    found: list[str] = []
    whole, apart = BATCH * count, values["gradient_error"]
    first, last = values["loss_first"], values["loss_last"]
    if list(steps) != [STEPS] * count:
        found.append(f"replicas made {list(steps)} steps, {STEPS} each were asked for")
    if list(parts) != [BATCH] * count:
        found.append(f"a batch of {whole} was split into {list(parts)}")
    if not apart <= TOLERANCE:
        found.append(f"the gradients added up over {count} replicas differ by {apart:.2g} from one device's")
    if not (math.isfinite(last) and last < LEARNED_SHARE * first):
        found.append(f"the loss went from {first:.3f} to {last:.3f} in {STEPS} steps")
    return found


def distance(added: Sequence[Sequence[Any]], alone: Sequence[Any]) -> float:
    """Return the largest difference of a gradient on any replica, as a share of that gradient's largest entry."""
    worst = 0.0
    for copies, single in zip(added, alone):
        reference = single.numpy()
        size = float(abs(reference).max()) or 1.0
        for copy in copies:
            apart = float(abs(copy.numpy() - reference).max()) / size
            worst = max(worst, apart) if math.isfinite(apart) else math.inf
    return worst


def _feed(bench: Bench, strategy: Any, whole: int) -> Any:
    pictures, labels = images(bench)
    data = bench.tf.data.Dataset.from_tensor_slices((pictures[: 20 * whole], labels[: 20 * whole]))
    return iter(strategy.experimental_distribute_dataset(data.batch(whole, drop_remainder=True).repeat()))


def _whole(bench: Bench, made: Replicas, batch: Any) -> tuple[Any, Any]:
    """Return the batch put together again on one device."""
    pictures, labels = batch
    return bench.tf.concat(made.per_replica(pictures), 0), bench.tf.concat(made.per_replica(labels), 0)


def scaling(bench: Bench, width: int = SCALING_WIDTH, size: int = SCALING_BATCH) -> Json:
    """Run one device and all of them in pairs, the same work for each replica; the ratio is that of examples a second."""
    pictures, labels = images(bench)
    arms = {"one": bench.places[:1], "all": bench.places}
    windows: dict[str, Callable[[], float]] = {}
    for name, places in arms.items():
        made = Replicas(bench, bench.tf.distribute.MirroredStrategy(places), widths=(width, width))
        windows[name] = _window(bench, made, pictures[:size], labels[:size])
    times = interleave(windows, pairs=PAIRS_FULL if bench.full else PAIRS, left_s=bench.left_s, advance=bench.advance)
    taken = len(times["all"])
    if taken < FEWEST_PAIRS:
        raise Inconclusive(f"only {taken} pairs in the time given, {FEWEST_PAIRS} are needed")
    shown = [
        arm(name, steps=SCALING_STEPS * taken, step_s=mean(each), batch=size * len(arms[name]))
        for name, each in times.items()
    ]
    shares = {name: [each / len(arms[name]) for each in taken_] for name, taken_ in times.items()}
    return {"arms": shown, "comparisons": [compare("all", "one", shares)]}


def _always(tf: Any, values: Any) -> Callable[[Any], Any]:
    """Return the function that gives each replica the same values."""

    def given(_replica: Any) -> Any:
        return tf.constant(values)

    return given


def _window(bench: Bench, made: Replicas, pictures: Any, labels: Any) -> Callable[[], float]:
    """Return a window of steps on one batch of which every replica holds a copy as its part."""
    tf = bench.tf
    give = made.strategy.experimental_distribute_values_from_function
    fixed = (give(_always(tf, pictures)), give(_always(tf, labels)))
    total = tf.constant(float(len(labels) * made.strategy.num_replicas_in_sync))
    return timed_steps(_Stepping(made, total), lambda _: fixed, SCALING_STEPS)


class _Stepping:
    """What `timed_steps` asks of a network."""

    def __init__(self, made: Replicas, total: Any) -> None:
        self._made, self._total = made, total

    def step(self, pictures: Any, labels: Any) -> Any:
        """Train all replicas once."""
        return self._made.train((pictures, labels), self._total)
