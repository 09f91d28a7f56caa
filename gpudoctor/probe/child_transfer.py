"""The `transfer` trial: copy from the host to the GPU, so that its PCIe link works while the parent looks at it.

An idle GPU lowers its link on purpose, so only a link that moves data may be judged. The copies start from ordinary
(pageable) memory as a training's batches do; their rate is what input can reach here, not the link's own limit.
Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import time

from .child_bench import MEBIBYTE, Bench, Json, Unsupported, arm, result, where

CHUNK_MEBIBYTES = 64  # far above a launch's cost at any link's rate, far below the probe's cap
# Policy: long enough for NVML, which shows a changed link within its sample period of at most 1 s (nvml.h), and for the
# parent, which looks five times a second.
SECONDS = 2.0
FEWEST_COPIES = 5  # policy: also where each takes longer than the whole time, the mean is of several


def transfer(bench: Bench) -> Json:
    """Copy for two seconds."""
    if bench.device != "GPU":
        raise Unsupported("copies go to a GPU over its link; the probe ran on the CPU")
    tf = bench.tf
    size = CHUNK_MEBIBYTES * MEBIBYTE
    if bench.cap_bytes:
        size = min(size, bench.cap_bytes // 8)
    with tf.device("/CPU:0"):
        chunk = tf.zeros([size], tf.uint8)
    copies, begun = 0, time.perf_counter()
    ran_on = "CPU"
    while copies < FEWEST_COPIES or time.perf_counter() - begun < SECONDS:
        with tf.device("/GPU:0"):
            moved = tf.identity(chunk)
        int(moved[-1])  # the copy back of one byte waits for the whole
        ran_on = where([moved])
        copies += 1
        bench.advance(min(1.0, (time.perf_counter() - begun) / SECONDS))
    seconds = (time.perf_counter() - begun) / copies
    return result(
        bench,
        device=ran_on,
        arms=[arm("copies", steps=copies, step_s=seconds)],
        values={"chunk_bytes": size, "host_to_device_bytes_per_s": size / seconds},
    )
