"""Maps of trivial TensorFlow operations that run for each example: calling them is what costs, and batching first ends it.

tf.data's model tells what the operations take; the passage of an element through an executor is mostly not in it. So a map
may hold the steps up though its told cost explains a fraction of their wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.knowledge.shared_cores import left_of, relief_s
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import Change, Stage
from gpudoctor.profile.node_names import base_name
from gpudoctor.profile.pipeline_graph import NO_COST

# Measured (TensorFlow 2.21, two loaded cores, batches of 128): an example passes a map of `x + 1.0` in 21 us, of which the
# model tells 2 in Map, 11 in MapAndBatch, 22 in ParallelMap. Five maps of 2 to 8 us told (scaling, a flip, an FFT of 784,
# parse_single_example; 11 to 29 in MapAndBatch) became 4.8 to 17 times as fast on whole batches; of 38 us on (57 in
# MapAndBatch: a resize, a standardisation, a sort) 0.97 to 1.4 times.
PASSAGE_S = 20e-6
TRIVIAL_S = {"Map": 10e-6, "MapAndBatch": 30e-6, "ParallelMap": 30e-6}
SAVED_AT_LEAST = 0.5  # the least of those five gains left a fifth of the time
EXPLAINS = 0.5  # policy: what takes less than half of a wait is not what makes it
BATCHES = frozenset({"Batch", "ParallelBatch"})
PASSED = frozenset({"Shuffle", "Repeat", "ForeverRepeat", "FiniteRepeat", "ShuffleAndRepeat", "Prefetch", "FiniteTake"})
UNEVEN = frozenset({"PaddedBatch", "GroupByWindow", "DenseToSparseBatch", "DenseToRagged"})  # examples of many shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Calls:
    """The calls of one map for one batch: its place, how many, and what the model tells of each."""

    at: int
    count: float
    told_s: float


def batch_first(
    stages: Sequence[Stage], *, step_s: float, least_s: float, alone: float, on_cpu: bool, seen: bool = False
) -> Change | None:
    """Return the change that batches before the maps in front of the batch, where calling them makes the wait.

    `alone`: the share of the cores that other processes left; they stretch what the model tells, which is wall time. `on_cpu`:
    the step computes on the same threads, and is relieved, too. `seen`: costs are from profiler windows, with the passage.
    """
    maps = list(_movable(stages, alone, PASSAGE_S if seen else 0.0))
    moved = {each.at for each in maps}
    rest_s = sum(
        each.batch_s for at, each in enumerate(stages) if at not in moved and base_name(each.name) not in NO_COST
    )
    wait_s = step_s - least_s
    takes_s = sum(each.count * (PASSAGE_S + each.told_s) for each in maps)
    if not maps or takes_s < EXPLAINS * wait_s or rest_s >= EXPLAINS * wait_s:
        return None
    saved_s = SAVED_AT_LEAST * (wait_s - rest_s)
    calls = sum(each.count for each in maps)
    relieved_s = left_of(least_s, relief_s(calls)) if on_cpu else least_s
    return Change(
        kind="batch_first",
        stage=maps[-1].at,
        low=step_s / max(least_s, step_s - saved_s),
        high=step_s / relieved_s,
        basis=f"{calls:.0f} calls a batch, each about {PASSAGE_S * 1e6:.0f} us beside its operations",
    )


def _movable(stages: Sequence[Stage], alone: float, passage_s: float) -> Iterator[_Calls]:
    """Yield the trivial maps between the batch and the first stage that a whole batch could not pass, from the batch down."""
    if any(base_name(each.name) in UNEVEN for each in stages):
        return
    batched = False
    for at, each in enumerate(stages):
        name = base_name(each.name)
        fused = name == "MapAndBatch"
        if fused or name in BATCHES:
            if batched:
                return
            batched = True
        if not batched or name in BATCHES or name in PASSED:
            continue
        calls = _calls(stages, at, passage_s)
        if calls is None or each.python or each.made_by != "user" or calls.told_s * alone > TRIVIAL_S[name]:
            return
        yield calls


def _calls(stages: Sequence[Stage], at: int, passage_s: float) -> _Calls | None:
    """Return the calls of a map; None for what is no map, or was not counted. One element of a fused one is a batch."""
    stage, name = stages[at], base_name(stages[at].name)
    below = stages[at + 1].visits if at + 1 < len(stages) else 0.0
    count = below if name == "MapAndBatch" else stage.visits
    if name not in TRIVIAL_S or count < 2 or not stage.elements:  # one call a batch is batched
        return None
    return _Calls(at=at, count=count, told_s=max(0.0, stage.cost_s * stage.visits / count - passage_s))
