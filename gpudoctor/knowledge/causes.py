"""Root causes with their stable ids, how deep each lies, and which cause explains which.

`explains` holds direct consequences only; a question is answered along the chain. Listing every distant symptom under
each cause would be tempting, and one wrong entry would then hide a real second fault. Facts of 2026-11-30.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpudoctor.knowledge.rows import causes as rows_of

    Cause = rows_of.Cause
    CAUSES: tuple[Cause, ...]


SOURCE = "a corpus of 140 public trouble reports about TensorFlow training on NVIDIA GPUs"


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
