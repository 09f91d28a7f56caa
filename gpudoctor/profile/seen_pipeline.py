"""The tf.data pipeline as a profiler window shows it: for TensorFlow before 2.18, which has no `get_model_proto`.

It shows what the model knows of each stage, injected prefetches and tuned parallelism included, but of a dozen batches where
the model has all: costs are means of few. They are wall time, the passage through an executor and what profiling adds included.
Measured (2.21, both in one run): 15.7 ms where the model says 15.5 of calls of 4 ms, 2.5 times the model's of calls of 0.1 ms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from gpudoctor.model.record import dataclass
from gpudoctor.model.session import PipelineNode
from gpudoctor.profile.seen_events import ROOT, Node, Sums

BYTES = {"float": 4, "double": 8, "half": 2, "bfloat16": 2, "bool": 1} | {
    f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}
FEWEST = 3  # batches before a cost per batch means something
MOST_BYTES = 8 << 20  # policy: a MB takes 0.6 s (measured); a window of 0.4 s has 0.1-2
MOST_PARALLEL = 1 << 20  # more is a number with a sign: not chosen yet


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNode:
    """One stage. `parent`: its consumer's place in the list, -1 for the output; `visits`, `cost_s`: elements, time a batch.

    `number`: which input of its consumer it is.
    """

    name: str
    parent: int
    visits: float
    cost_s: float
    parallelism: float = 1.0
    tunable: bool = False
    buffered: int = 0
    element_bytes: float = 0.0
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPipeline:
    """The iterator that was waited for most in a window, from its output down."""

    process: str = ""
    label: str = ""
    at: float = 0.0
    batches: int
    nodes: tuple[SeenNode, ...]

    @property
    def stages(self) -> tuple[tuple[str, int, int], ...]:
        """Return what makes it the same pipeline as another."""
        return tuple((each.name, each.parent, each.number) for each in self.nodes)


def seen_pipeline(data: bytes, *, process: str = "", label: str = "", at: float = 0.0) -> SeenPipeline | None:
    """Return what a trace shows; None where it is none, or shows too little."""
    if len(data) > MOST_BYTES:
        return None
    try:
        sums = Sums(data)
    except ValueError:
        return None
    roots = [each for each in sums.nodes.values() if each.key[1] == ROOT and each.count >= FEWEST]
    if not roots:
        return None
    root = max(roots, key=lambda each: each.total_s)
    nodes = tuple(_from(sums, root))
    return SeenPipeline(process=process, label=label, at=at, batches=root.count, nodes=nodes)


def _from(sums: Sums, root: Node) -> Iterator[SeenNode]:
    """Yield the stages from the output down."""
    whole = sum(sums.sizes) / len(sums.sizes) if sums.sizes else 0.0
    waiting: list[tuple[Node, int, float]] = [(root, -1, 1.0)]
    place = 0
    while waiting:
        node, parent, visits = waiting.pop(0)
        stats = node.stats
        batch = stats.get("shapes") == root.stats.get("shapes")
        yield SeenNode(
            name=node.name,
            parent=parent,
            visits=visits,
            cost_s=visits * _element_s(sums, node),
            parallelism=float(_number(stats.get("parallelism"), 1, MOST_PARALLEL)),
            tunable="parallelism" in stats and stats.get("autotune") == "true",  # a prefetch's is its buffer
            buffered=_number(stats.get("buffered_elements"), 0, MOST_PARALLEL),
            element_bytes=whole if batch else _bytes(str(stats.get("shapes", "")), str(stats.get("types", ""))),
            number=node.number,
        )
        below = sorted((each for each in sums.nodes.values() if each.parent == node.key), key=lambda each: each.number)
        waiting = [*((each, place, visits * _for_each(node, each)) for each in below), *waiting]
        place += 1


def _element_s(sums: Sums, node: Node) -> float:
    """Return the own time of an element; a stage with threads of its own has it there, and in its function's calls."""
    made = _made(node)
    if not node.beside:
        return node.own_s / max(1, node.count)
    return (node.own_s + len(node.calls) * sums.call_s(node)) / made if made else 0.0


def _made(node: Node) -> float:
    """Return how many elements a stage's own threads have made: map_and_batch notes each input, not each batch."""
    size = node.stats.get("batch_size") if "MapAndBatch" in node.name else 1
    return node.made / _number(size, 1, MOST_PARALLEL)


def _for_each(node: Node, below: Node) -> float:
    """Return how many elements of its input a stage takes for one of its own."""
    made = _made(node) if node.beside else float(node.count)
    if below.inside and made:
        return below.inside / made
    return below.count / max(1, node.count)  # an input in threads of its own


def _number(value: int | str | None, least: int, most: int) -> int:
    return value if isinstance(value, int) and least <= value <= most else least


def _bytes(shapes: str, types: str) -> float:
    """Return the size of an element whose shapes are all known: "[32,32,3] []", "float int64"; else 0."""
    total = 0.0
    for shape, kind in zip(shapes.split(), types.split(), strict=False):
        sizes = [each for each in shape.strip("[]").split(",") if each]
        if kind not in BYTES or not all(each.isdigit() for each in sizes):
            return 0.0
        total += BYTES[kind] * math.prod(int(each) for each in sizes)
    return total


def nodes_of(seen: Sequence[SeenPipeline], iterator: int, batches: int) -> list[PipelineNode]:
    """Return windows of one pipeline as the model's nodes after so many batches; long windows weigh more.

    Nodes are numbered as the model does it, which leaves numbers out for the inputs that have ended.
    """
    last = seen[-1].nodes
    numbers = [at + ended for at, ended in enumerate(accumulate(_ended(last, at) for at in range(len(last))))]
    weight = sum(each.batches for each in seen)
    made = max(FEWEST, batches)

    def mean(at: int, name: str) -> float:
        return sum(each.batches * float(getattr(each.nodes[at], name)) for each in seen) / weight

    return [
        PipelineNode(
            process=seen[-1].process,
            iterator=iterator,
            node=numbers[at],
            at=seen[-1].at,
            name=node.name,
            parent=numbers[node.parent] if node.parent >= 0 else -1,
            num_elements=(count := max(1, round(made * mean(at, "visits")))),
            processing_s=made * mean(at, "cost_s"),
            buffered_elements=node.buffered,
            bytes_produced=round(count * node.element_bytes),
            parameters={"parallelism": (node.parallelism, node.tunable)},
        )
        for at, node in enumerate(last)
    ]


def _ended(nodes: Sequence[SeenNode], at: int) -> int:
    """Return 1 where inputs before this one are not there any more."""
    node = nodes[at]
    return int(node.number > 0 and not any(each.parent == node.parent for each in nodes[:at]))
