"""The largest batch of the reference network for all of a GPU's free memory: the ladder's line, carried beyond the probe's cap.

What counts is the pool that TensorFlow would take of that memory, not the memory itself: it leaves a reserve for others.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.knowledge import memory_pool
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Missing
from gpudoctor.probe.child_ladder import Line, largest


def figures(ladder: Mapping[str, float], gpu: Gpu | None) -> Mapping[str, float]:
    """Return `free_bytes` and `largest_batch_in_free`; nothing where the line, the GPU or its memory is not known."""
    line = line_of(ladder)
    if line is None or gpu is None:
        return {}
    free, capability = gpu.memory.free_bytes, gpu.compute_capability
    if isinstance(free, Missing) or isinstance(capability, Missing):
        return {}
    pool = memory_pool.pool_bytes(free, capability)
    return {"free_bytes": float(free), "largest_batch_in_free": float(largest(line, pool))}


def line_of(ladder: Mapping[str, float]) -> Line | None:
    """Return the line that a ladder's values hold."""
    fixed, each = ladder.get("memory_fixed_bytes"), ladder.get("memory_per_example_bytes", 0.0)
    if fixed is None or each <= 0:
        return None
    excess = ladder.get("memory_excess_share", 0.0)
    fixed_high = ladder.get("memory_fixed_high_bytes", fixed * (1 + excess))
    each_high = ladder.get("memory_per_example_high_bytes", each * (1 + excess))
    return Line(fixed, each, ladder.get("memory_residual_bytes", 0.0), excess, fixed_high, each_high)
