"""One reading of tf.data's model for a loop that had an iterator for each epoch: nodes of the longest, costs of all.

An input that has ended takes its nodes out of the model, so an iterator that was read at its end lacks what lies below, and
one that was read early has all nodes and counted little. Costs of few elements are off: the first ones fill buffers beside
each other (measured: 38 ms a batch after 7 batches, 19 ms after all 20).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gpudoctor.model.session import IteratorRecord, PipelineNode, Session

WHOLE = 0.5  # policy: an iterator with half the batches of the fullest one has run long enough


def reading(session: Session, iterators: Sequence[IteratorRecord]) -> tuple[IteratorRecord | None, list[PipelineNode]]:
    """Return the last iterator that ran long enough, or the fullest that ran the same, and its nodes; None where nothing was read.

    How often a stage runs for a batch need not be the same all the time: of datasets laid end to end the second runs late.
    """
    nodes = _nodes(session, iterators)
    batches = {number: _batches(each) for number, each in nodes.items()}
    most = max(batches.values(), default=0)
    if not most:
        return None, []
    last = next(each for each in reversed(iterators) if batches.get(each.iterator, 0) >= WHOLE * most)
    alike = [each for each in iterators if each.site == last.site and each.iterator in nodes]
    chosen = _fullest(last, alike, nodes)
    own = nodes[chosen.iterator]
    others = [nodes[each.iterator] for each in alike if _same_graph(nodes[each.iterator], own)]
    richest = max(others, key=len)
    whole = [*own, *_lost(own, richest, most)] if len(richest) > len(own) else own
    return chosen, [_averaged(each, others[1:] or others) for each in whole]


def gave_nothing(session: Session, iterators: Sequence[IteratorRecord]) -> set[int]:
    """Return the iterators that were read and had given nothing: Keras makes one more at the end of `fit`."""
    return {number for number, each in _nodes(session, iterators).items() if not _batches(each)}


def _fullest(
    last: IteratorRecord, alike: Sequence[IteratorRecord], nodes: Mapping[int, Sequence[PipelineNode]]
) -> IteratorRecord:
    """Return the iterator of the same stages that gave most batches before it was read."""
    stages = _stages(nodes[last.iterator])
    same = [each for each in alike if _stages(nodes[each.iterator]) == stages]
    return max(reversed(same), key=lambda each: _batches(nodes[each.iterator]))


def _stages(nodes: Sequence[PipelineNode]) -> set[tuple[int, str]]:
    return {(each.node, each.name) for each in nodes}


def _nodes(session: Session, iterators: Sequence[IteratorRecord]) -> dict[int, list[PipelineNode]]:
    wanted, found = {(each.process, each.iterator) for each in iterators}, dict[int, list[PipelineNode]]()
    for each in session.pipeline_nodes:
        if (each.process, each.iterator) in wanted:
            found.setdefault(each.iterator, []).append(each)
    return found


def _batches(nodes: Sequence[PipelineNode]) -> int:
    """Return how many elements the output gave: those of the topmost node that counts any."""
    below = {each.parent: each for each in nodes}
    node = below.get(-1)
    while node is not None and not node.num_elements:
        node = below.get(node.node)
    return 0 if node is None else node.num_elements


def _same_graph(some: Sequence[PipelineNode], other: Sequence[PipelineNode]) -> bool:
    """Return whether the nodes that both have are the same ones."""
    names = {each.node: (each.name, each.parent) for each in other}
    return all(names.get(each.node, (each.name, each.parent)) == (each.name, each.parent) for each in some)


def _lost(own: Sequence[PipelineNode], richest: Sequence[PipelineNode], most: int) -> Iterator[PipelineNode]:
    """Yield the nodes that had ended when they were read, as if they had counted on at the pace of the other reading."""
    known, pace = {each.node for each in own}, most / max(1, _batches(richest))
    for each in richest:
        if each.node not in known:
            yield replace(each, num_elements=round(each.num_elements * pace), processing_s=each.processing_s * pace)


def _averaged(node: PipelineNode, readings: Sequence[Sequence[PipelineNode]]) -> PipelineNode:
    """Return the node with the cost of one element as the mean over all readings."""
    same = [each for nodes in readings for each in nodes if each.node == node.node]
    elements = sum(each.num_elements for each in same)
    if not elements:
        return node
    return replace(node, processing_s=sum(each.processing_s for each in same) / elements * node.num_elements)
