"""Root causes with their stable ids, how deep each lies, and which cause explains which.

`explains` holds direct consequences only; a question is answered along the chain. Listing every distant symptom under
each cause would be tempting, and one wrong entry would then hide a real second fault. Facts of 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from gpudoctor.knowledge.row import Row

if TYPE_CHECKING:
    CAUSES: tuple[Cause, ...]

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

SOURCE = "a corpus of 140 public trouble reports about TensorFlow training on NVIDIA GPUs"


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


def cause(id_: str) -> Cause | None:
    """Return the cause with that id, or None."""
    return _by_id().get(id_)


def explains(first: str, second: str) -> bool:
    """Tell whether `first`, when true, explains `second`, directly or along a chain; nothing explains itself."""
    return second in _consequences(first)


@cache
def _consequences(id_: str) -> frozenset[str]:
    known = _by_id().get(id_)
    direct = () if known is None else known.explains
    return frozenset(direct).union(*(_consequences(each) for each in direct))


@cache
def _by_id() -> dict[str, Cause]:
    from gpudoctor.knowledge.causes_data import CAUSES as rows  # noqa: N811, PLC0415  # paid for by those who ask

    return {each.id: each for each in rows}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name != "CAUSES":
            raise AttributeError(name)
        return tuple(_by_id().values())
