"""Where a cache would help an input pipeline, and how much: only where the data end, come again and fit.

A cache fills once, until its input ends. Behind an endless repeat, or over a generator that never returns, it never does: it
would keep every element of the training in memory. So the end must have been seen: a repeat has begun its input again, or
Keras ran its epochs until the data ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.model.record import dataclass
from gpudoctor.model.run import UNTIL_THE_END, Change, Settings, Stage
from gpudoctor.profile.node_names import base_name
from gpudoctor.profile.pipeline_graph import NO_COST, READERS, REPEATERS

FITS = 0.3  # policy: a cache may take this share of the host's memory; shuffle buffers and the model need the rest
SCALES_AT_LEAST = (
    0.5  # policy, for parallel calls too: at least half of what a model promises, or the range would be a point
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """How often the data come: at least and at most, and how many elements of the cached stage that makes, at most."""

    rounds: float
    most_rounds: float
    elements: float


def cache(
    stages: Sequence[Stage],
    at: int,
    *,
    step_s: float,
    least_s: float,
    epochs: int,
    memory_bytes: int,
    settings: Settings | None,
) -> Change | None:
    """Return the cache behind a slow stage. Offered for Python, for readers, and for maps that are seen to draw nothing at random."""
    stage = stages[at]
    if stage.python == "sequence" or any(each.random is True for each in stages[at:]):
        return None  # of what Keras makes no cache can be asked; what is random must not be the same each time
    if any("Shuffle" in each.name and not _movable(each, stage) for each in stages[at:]):
        return None
    if not (stage.python or base_name(stage.name) in READERS or stage.random is False):
        return None
    if any(base_name(each.name).endswith("Cache") for each in stages):
        return None
    data = _data(stages, at, epochs, settings)
    size = stage.element_bytes * data.elements if data is not None else 0.0
    if data is None or not size or size > FITS * memory_bytes:
        return None
    left = max([least_s, *(each.batch_s for each in stages[:at] if base_name(each.name) not in NO_COST)])
    high = _gain(step_s, left, data.most_rounds)
    low = 1 + (_gain(step_s, left, data.rounds) - 1) * SCALES_AT_LEAST
    basis = f"at most {size / 2**20:.3g} MiB, {data.rounds:.2g} or more rounds of the data"
    return Change(kind="cache", stage=at, low=low, high=max(low, high), basis=basis)


def _movable(shuffle: Stage, stage: Stage) -> bool:
    """Return whether the user can put a shuffle behind the cache; one inside a library's function would be kept for ever."""
    return stage.made_by != "library" and (not shuffle.snippet or "shuffle(" in shuffle.snippet)


def _gain(step_s: float, left_s: float, rounds: float) -> float:
    return (rounds * step_s) / (step_s + (rounds - 1) * left_s)


def _data(stages: Sequence[Stage], at: int, epochs: int, settings: Settings | None) -> Data | None:
    """Return how often the data come; None where they come once, or may have no end."""
    repeats = [place for place, each in enumerate(stages) if base_name(each.name) in REPEATERS]
    if repeats:
        above = [place for place in repeats if place < at]
        return _repeated(stages, at, above[-1] if above else repeats[0])
    endless = any(each.python == "generator" for each in stages[at:])
    ended = settings is not None and settings.process.get("fit_steps") == UNTIL_THE_END
    if epochs < 2 or (endless and not ended):  # once is not again
        return None
    return Data(rounds=epochs, most_rounds=epochs, elements=stages[at].elements)


def _repeated(stages: Sequence[Stage], at: int, repeat: int) -> Data | None:
    """Return what a repeat shows: its input is built anew each round and counts from 0, so what it lacks was round before.

    Of n elements in all, c in the round under way, a round has at most n - c.
    """
    if repeat + 1 >= len(stages):
        return None
    whole, now, stage = stages[repeat].elements, stages[repeat + 1], stages[at]
    before = whole - now.elements
    if before < 1 or not now.visits or not stages[repeat].visits:
        return None
    share = stage.visits / (now.visits if repeat < at else stages[repeat].visits)
    return Data(rounds=whole / before, most_rounds=whole / max(1, now.elements), elements=before * share)
