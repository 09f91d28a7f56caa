"""The user's calls behind an iterator, from its output down; of datasets laid end to end, those of the parts that ran.

A concatenate has one input at a time: when the first has ended, tf.data takes its nodes out of its model and makes the next
one's. The calls of a part that has no node would explain the nodes of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.node_names import base_name

MOST_CALLS = 500  # policy: a dataset may stand in its own inputs many times
FIRST, SECOND = 0, 1


def calls_of(session: Session, iterator: IteratorRecord, nodes: Sequence[PipelineNode] = ()) -> list[CallSite]:
    """Return the calls in the order of the nodes; a dataset that is an input twice is there twice.

    `nodes`: of tf.data's model, from the output down; without them all parts are taken to have run.
    """
    sites = {each.site: each for each in session.call_sites if each.process == iterator.process}
    waiting = [] if isinstance(iterator.site, Missing) else [iterator.site]
    running = _running(nodes)
    found: list[CallSite] = []
    while waiting and len(found) < MOST_CALLS:
        site = sites.get(waiting.pop(0))
        if site is not None:
            found.append(site)
            inputs = site.inputs
            if site.method == "concatenate":
                ran = next(running, (FIRST, SECOND))
                inputs = tuple(each for at, each in enumerate(inputs) if at in ran)
            waiting = [*inputs, *waiting]
    return found


def _running(nodes: Sequence[PipelineNode]) -> Iterator[tuple[int, ...]]:
    """Yield for each concatenate which of its inputs have nodes.

    tf.data numbers its nodes as they are made, a consumer before its input (DatasetBase::MakeIterator in tensorflow/core/
    framework/dataset.cc): what does not follow the concatenate itself was made later, when the first input had ended.
    """
    for each in nodes:
        if base_name(each.name) == "Concatenate":
            inputs = [other.node for other in nodes if other.parent == each.node]
            lone = inputs[0] if len(inputs) == 1 else None
            yield (FIRST, SECOND) if lone is None else (FIRST,) if lone == each.node + 1 else (SECOND,)
