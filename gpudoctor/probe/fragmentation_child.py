"""Trial `fragmentation`: how much of TensorFlow's free memory lies in one piece after training on batches of many sizes.

Measured three ways, which must agree: the map that the allocator writes when it cannot serve a request (at level `full`
also the dump that it prints with the OOM, ten seconds later), the largest block that can really be had, and
get_memory_info. Fragmentation is 1 - largest free chunk / total free, XProf's definition.
The pool is taken as one region first, as TensorFlow does by default on a GPU: a pool that grows step by step is cut at
each step's end, and that would be measured instead of the training.

Values: `fragmentation_share`, `total_free_bytes`, `largest_free_bytes`, `in_use_bytes`, `pool_bytes` (the allocator's own
figures), `largest_had_bytes` (the search), `memory_info_in_use_bytes`, `methods_agree` (1 or 0), at `full` also
`printed_share`.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from typing import Any

from .child_bench import MEBIBYTE, Bench, Json, Unsupported, result
from .child_network import SIDE, Network
from .fragmentation_pool import Measured, Pool, measure

POOL_MEBIBYTES = 256
# What the process must be started with. On a machine without a GPU this puts the CPU's tensors into the same allocator;
# on one with a GPU only log level 0 matters: the dump is printed at level INFO.
ENVIRONMENT = {
    "TF_CPU_ALLOCATOR_USE_BFC": "true",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB": str(POOL_MEBIBYTES),
    "TF_CPP_MIN_LOG_LEVEL": "0",
}
# Two ways agree when their shares differ by no more; chunks are counted in 256 bytes, so a true gap is far smaller, and
# between two readings a few small tensors come and go.
AGREE_SHARE = 0.02
SEED = 20_261
STEPS = 12
RING = 3  # batches alive at once, as with a prefetch buffer of two
BATCHES_IN_POOL = 12  # the largest batch is this part of the pool: large against the rest, and RING of them fit


def fragmentation(bench: Bench) -> Json:
    """Train on batches of many sizes, then ask the allocator what is left and how it lies."""
    allocator = os.environ.get("TF_GPU_ALLOCATOR", "")
    if bench.device == "GPU" and allocator.startswith("cuda_malloc"):
        raise Unsupported(
            f"TF_GPU_ALLOCATOR={allocator}: the CUDA driver's pool serves TensorFlow, there is no BFC allocator"
        )
    pool = Pool(bench.tf, bench.device, pool_bytes(bench))
    pool.reserve()
    with _eager(bench.tf):
        kept = train(bench, pool)
    measured = measure(pool, kept, printed=bench.full, left_s=bench.left_s)
    return judge(bench, measured)


def pool_bytes(bench: Bench) -> int:
    """Return the size of the allocator's pool that this process was given."""
    if bench.device == "GPU":
        if not bench.cap_bytes:
            raise Unsupported("the GPU's pool has no limit here; this trial needs one")
        return bench.cap_bytes // MEBIBYTE * MEBIBYTE
    if os.environ.get("TF_CPU_ALLOCATOR_USE_BFC", "").lower() not in ("1", "true"):
        raise Unsupported("without a GPU this trial needs TF_CPU_ALLOCATOR_USE_BFC=true from the process's start")
    return int(os.environ.get("TF_CPU_BFC_MEM_LIMIT_IN_MB", "0")) * MEBIBYTE or POOL_MEBIBYTES * MEBIBYTE


def train(bench: Bench, pool: Pool) -> list[Any]:
    """Train the reference network on batches of changing size; return what a training loop would still hold.

    The last batches are alive as in a prefetch buffer, and each third step's predictions are kept, as loops do that
    collect them for a metric.
    """
    tf, np = bench.tf, bench.np
    network = Network(bench, raw=False)
    draw = np.random.default_rng(SEED)
    most = pool.limit_bytes // (BATCHES_IN_POOL * SIDE * SIDE * 4)
    ring: list[Any] = []
    predictions: list[Any] = []
    for number in range(STEPS):
        size = int(draw.integers(most // 16, most))
        with tf.device(pool.place):
            pictures = tf.random.stateless_uniform([size, SIDE, SIDE], seed=[SEED, number])
            labels = tf.random.stateless_uniform([size], seed=[number, SEED], maxval=10, dtype=tf.int32)
        ring = ([*ring, (pictures, labels)])[-RING:]
        _, shares = network.step(pictures, labels)
        if number % 3 == 0:
            predictions.append(shares)
        bench.advance(0.8 * (number + 1) / STEPS)
    return [network.model, network.optimizer, ring, predictions]


@contextlib.contextmanager
def _eager(tf: Any) -> Generator[None]:
    """Run the step op by op.

    Compiled, the order of requests differs from run to run (share 0.26 to 0.46 here, eager 0.33 to 0.42), and TensorFlow
    goes on holding parts of it.
    """
    if not hasattr(tf.config, "run_functions_eagerly"):  # before TensorFlow 2.3
        yield
        return
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


def judge(bench: Bench, measured: Measured) -> Json:
    """Return the trial's result: the allocator's own figures, and whether the other ways say the same."""
    values = _values(measured)
    by_search = measured.share(measured.largest_had_bytes) - values["fragmentation_share"]
    printed = values.get("printed_share", values["fragmentation_share"]) - values["fragmentation_share"]
    agree = max(abs(by_search), abs(printed)) <= AGREE_SHARE and _same_in_use(measured)
    values["methods_agree"] = float(agree)
    notes = [
        f"pool of {measured.pool_bytes // MEBIBYTE} MiB in one region, {STEPS} batches of changing size",
        *measured.notes,
    ]
    status, reason = "ok", ""
    if not measured.from_allocator:
        status, reason = "inconclusive", "the allocator wrote no map and printed no dump: the share is by search alone"
    elif by_search > AGREE_SHARE:
        status = "failed"
        reason = (
            f"the allocator lists a free block of {measured.largest_free_bytes} bytes and does not give it"
            f" (largest had: {measured.largest_had_bytes})"
        )
    elif not agree:
        status, reason = "inconclusive", "the ways to measure do not agree"
    return result(bench, status=status, reason=reason, values=values, notes=notes)


def _values(measured: Measured) -> dict[str, float]:
    values: dict[str, float] = {
        "fragmentation_share": measured.share(measured.largest_free_bytes),
        "total_free_bytes": measured.total_free_bytes,
        "largest_free_bytes": measured.largest_free_bytes,
        "largest_had_bytes": measured.largest_had_bytes,
        "in_use_bytes": measured.in_use_bytes,
        "pool_bytes": measured.pool_bytes,
    }
    if measured.memory_info_bytes is not None:
        values["memory_info_in_use_bytes"] = measured.memory_info_bytes
    if measured.printed_share is not None:
        values["printed_share"] = measured.printed_share
    return values


def _same_in_use(measured: Measured) -> bool:
    told = measured.memory_info_bytes
    return told is None or abs(told - measured.in_use_bytes) <= AGREE_SHARE * measured.pool_bytes
