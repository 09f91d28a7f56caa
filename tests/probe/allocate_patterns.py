"""Holds and frees blocks in known patterns on the real allocator, measures, and tells the truth beside it as JSON.

Run under a target interpreter: allocate_patterns.py FOLDER [none | half | severe | oom | trial | without]. The truth is computed from
what the script asked for and the pool's limit alone; nothing of it comes from the allocator.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import bench, modules  # the target has no tests on its path

BLOCKS = 64
# Of 64 equal blocks side by side: the runs (first, last) that are let go.
LET_GO = {
    "none": [(32, 63)],
    "half": [(0, 23), (32, 55)],
    "severe": [(number, number) for number in range(0, BLOCKS, 2)],
}


def blocks(made: Any, pool: Any, pattern: str) -> tuple[list[Any], float]:
    """Return the blocks that stay, and the true fragmentation."""
    tf = made.tf
    size = pool.reserved_bytes // BLOCKS // 256 * 256
    with tf.device("/CPU:0"):
        held = [tf.fill([size // 4], float(number)) for number in range(BLOCKS)]  # really written
    gone = {number for first, last in LET_GO[pattern] for number in range(first, last + 1)}
    kept = [each for number, each in enumerate(held) if number not in gone]
    total = pool.limit_bytes - size * len(kept)
    largest = max(last - first + 1 for first, last in LET_GO[pattern]) * size
    return kept, 1 - largest / total


def pattern(made: Any, child: Any, name: str) -> dict[str, Any]:
    """Measure one pattern in every way, the search without a hint."""
    pool = child.Pool(made.tf, "CPU", 256 << 20)
    pool.reserve()
    kept, truth = blocks(made, pool, name)
    measured = child.measure(pool, kept, printed=True, guided=False)
    return {
        "pattern": name,
        "truth": truth,
        "map": measured.share(measured.largest_free_bytes),
        "printed": measured.printed_share,
        "search": measured.share(measured.largest_had_bytes),
        "memory_info_bytes": measured.memory_info_bytes,
        "in_use_bytes": measured.in_use_bytes,
        "pool_bytes": measured.pool_bytes,
    }


def oom(made: Any, child: Any) -> dict[str, Any]:
    """Ask for half of what is free while every second block is held; return what TensorFlow raised and printed."""
    pool = child.Pool(made.tf, "CPU", 256 << 20)
    pool.reserve()
    kept, _ = blocks(made, pool, "severe")
    free = pool.limit_bytes - sum(int(each.shape[0]) * 4 for each in kept)
    raised = ""
    with tempfile.TemporaryDirectory() as folder, child.stderr_into(Path(folder) / "printed") as told:
        try:
            made.tf.fill([free // 8], 1.0)
        except made.tf.errors.ResourceExhaustedError as error:
            raised = type(error).__name__
        text = told()
    return {"raised": raised, "asked_bytes": free // 8 * 4, "free_bytes": free, "text": text}


def main(folder: str, what: str) -> None:
    """Do what the caller asked for."""
    child, trial, child_bench = modules(folder, "fragmentation_pool", "fragmentation_child", "child_bench")
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    if what != "without":
        os.environ.update(trial.ENVIRONMENT)
    made = bench(folder)
    told: Any
    if what in LET_GO:
        told = pattern(made, child, what)
    elif what == "oom":
        told = oom(made, child)
    else:
        try:
            told = trial.fragmentation(made)
        except (child_bench.Unsupported, child_bench.Inconclusive) as why:
            told = {"raised": type(why).__name__, "reason": str(why)}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    os._exit(0)  # as the probe's child ends


if __name__ == "__main__":
    main(*sys.argv[1:])
