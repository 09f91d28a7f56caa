"""Root causes: what a row holds, and how deep a cause may lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge.row import Row

Layer = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8]
HARDWARE: Layer = 0
KERNEL_MODULE: Layer = 1
DRIVER_LIBRARY: Layer = 2
VISIBILITY: Layer = 3  # container, scheduler, permissions, environment variables
CUDA_LIBRARIES: Layer = 4
BUILD: Layer = 5  # TensorFlow build and Python packages
MEMORY: Layer = 6
COMPUTE: Layer = 7  # input pipeline and computation
OBSERVATION: Layer = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Cause(Row):
    """One cause. `settled_by`: the evidence that decides it: env, nvml, kernel, log, run (a measurement), source.

    `threads` is a hand count of public threads about it (None: not counted). `explains`: causes that follow directly
    when this one is true.
    """

    id: str
    title: str
    settled_by: tuple[str, ...]
    threads: int | None
    layer: Layer
    explains: tuple[str, ...]
