"""What an interleave or flat_map makes of each of its elements, as one input: tf.data's model has a copy for each open one.

Eight open files are eight chains of the same stages, each with an eighth of the work: none of them looks slow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.model.run import Stage
from gpudoctor.model.session import PipelineNode
from gpudoctor.profile.node_names import base_name

SPLITTERS = frozenset({"Interleave", "ParallelInterleave", "FlatMap"})
CALLING = frozenset({"Map", "ParallelMap"})


def splits(name: str) -> bool:
    """Return whether a node makes inputs of its own."""
    return base_name(name) in SPLITTERS


def as_one(nodes: Sequence[PipelineNode]) -> list[PipelineNode]:
    """Return the nodes with the copies below each splitter added up; behind its first input, which is no copy."""
    children: dict[int, list[PipelineNode]] = {}
    for each in nodes:
        children.setdefault(each.parent, []).append(each)
    merged: list[PipelineNode] = []
    for each in children.get(-1, []):
        merged.extend(_below([each], children))
    return merged


def _below(copies: Sequence[PipelineNode], children: dict[int, list[PipelineNode]]) -> Iterator[PipelineNode]:
    """Yield a node, copies of which are added up, and all that lies below."""
    yield _sum(copies)
    inputs = [children.get(each.node, []) for each in copies]
    if len(copies) == 1 and splits(copies[0].name) and len(inputs[0]) > 1:
        yield from _below(inputs[0][:1], children)
        groups: dict[str, list[PipelineNode]] = {}
        for each in inputs[0][1:]:
            groups.setdefault(each.name, []).append(each)
        for group in groups.values():
            yield from _below([replace(each, parent=copies[0].node) for each in group], children)
        return
    for at in range(max(map(len, inputs), default=0)):
        same = [each[at] for each in inputs if at < len(each)]
        alike = [each for each in same if each.name == same[0].name]
        yield from _below([replace(each, parent=copies[0].node) for each in alike], children)


def _sum(copies: Sequence[PipelineNode]) -> PipelineNode:
    first = copies[0]
    if len(copies) == 1:
        return first
    return replace(
        first,
        num_elements=sum(each.num_elements for each in copies),
        processing_s=sum(each.processing_s for each in copies),
        bytes_produced=sum(each.bytes_produced for each in copies),
        buffered_elements=sum(each.buffered_elements for each in copies),
    )


def attributed(nodes: Sequence[PipelineNode], stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages of these nodes, those inside a splitter's function with its place: no call of theirs was on a line seen.

    The Python that its function calls back is that of the map inside, where there is one.
    """
    at = {each.node: place for place, each in enumerate(nodes)}
    first = {each.parent: each.node for each in reversed(nodes)}
    found = list(stages)
    for place, node in enumerate(nodes):
        owner = _splitter(node, nodes, at, first)
        if owner is None or stages[place].line or not stages[owner].line:
            continue
        whose = stages[owner]
        calls = base_name(node.name) in CALLING and whose.python == "python function"
        found[place] = replace(
            stages[place],
            method=whose.method,
            file=whose.file,
            line=whose.line,
            callee=whose.callee,
            callee_file=whose.callee_file,
            callee_line=whose.callee_line,
            python_function=whose.python_function if calls else "",
            python=whose.python if calls else "",
            made_by=whose.made_by,
            parallel_asked=whose.parallel_asked,
        )
        if calls:
            found[owner] = replace(found[owner], python="", python_function="")
    return tuple(found)


def _splitter(
    node: PipelineNode, nodes: Sequence[PipelineNode], at: dict[int, int], first: dict[int, int]
) -> int | None:
    """Return the place of the nearest splitter in whose function a node lies; its first input lies outside."""
    while node.parent in at:
        parent = nodes[at[node.parent]]
        if splits(parent.name) and first[parent.node] != node.node:
            return at[parent.node]
        node = parent
    return None
