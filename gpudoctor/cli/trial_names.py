"""The probe's trials by level, for `gpudoctor probe --help`, which must not load the probe."""

from __future__ import annotations

# What `probe.plan` holds, told without loading it; a test compares the two.
TEXT = (
    "Trials at level standard: baseline, cpu, gradcheck, prefetch, map, precision, numpy_loop, jit, eager, transfer,"
    " fragmentation, batch_ladder. Level full adds: replicas. One that is named runs at either level."
)
