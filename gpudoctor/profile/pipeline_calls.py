"""The user's calls behind an iterator, and which of them each node of the graph as it ran comes from.

Where datasets come together (zip, concatenate, choose_from_datasets), each input's calls lie beside that input's nodes alone:
laid out one behind the other, the first map would take the nodes of all. A concatenate has one input at a time: the next one's
nodes are made when the first has ended, and a profiler window, or a model that was read late, need not show the first's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.node_names import base_name
from gpudoctor.profile.pipeline_sites import METHODS, sites_of

MOST_CALLS = 500  # policy: a dataset may stand in its own inputs many times
FORKS = frozenset({"Zip", "Concatenate", "DirectedInterleave"})
FORKING = frozenset(method for each in FORKS for method in METHODS[each])

Sites = Mapping[int, CallSite]
Part = tuple[list[PipelineNode], int]  # an input's nodes and the number of the call that made it


def calls_of(session: Session, iterator: IteratorRecord) -> list[CallSite]:
    """Return all calls from the output down; a dataset that is an input twice is there twice."""
    return _calls(_starts(iterator), _sites(session, iterator))


def asked_for(nodes: Sequence[PipelineNode], session: Session, iterator: IteratorRecord) -> list[list[CallSite]]:
    """Return the calls that each node comes from. `nodes`: a tree, from the output down, inputs in their order."""
    found: dict[int, list[CallSite]] = {}
    _explain(nodes, _starts(iterator), _sites(session, iterator), found)
    return [found.get(each.node, []) for each in nodes]


def _starts(iterator: IteratorRecord) -> list[int]:
    return [] if isinstance(iterator.site, Missing) else [iterator.site]


def _sites(session: Session, iterator: IteratorRecord) -> Sites:
    return {each.site: each for each in session.call_sites if each.process == iterator.process}


def _calls(starts: Iterable[int], sites: Sites, last: CallSite | None = None) -> list[CallSite]:
    """Return the calls from these down, inputs in their order; not those below `last`."""
    waiting, found = list(starts), list[CallSite]()
    while waiting and len(found) < MOST_CALLS:
        site = sites.get(waiting.pop(0))
        if site is not None:
            found.append(site)
            waiting = [*(site.inputs if site is not last else ()), *waiting]
    return found


def _explain(
    nodes: Sequence[PipelineNode], starts: Iterable[int], sites: Sites, found: dict[int, list[CallSite]]
) -> None:
    """Lay calls beside nodes: down to where inputs come together, then each input by itself."""
    calls, parts = _calls(starts, sites), list[Part]()
    fork = next((each for each in nodes if base_name(each.name) in FORKS), None)
    named = METHODS[base_name(fork.name)] if fork is not None else ()
    forking = next((each for each in calls if each.method in FORKING), None)
    if (
        fork is not None
        and forking is not None
        and forking.method in named
        and (parts := _paired(fork, nodes, forking.inputs))
    ):
        below = {each.node for each in _below(fork, nodes)}
        nodes = [each for each in nodes if each.node not in below]
        calls = _calls(starts, sites, last=forking)
    asked = sites_of([base_name(each.name) for each in nodes], calls)
    found.update((node.node, each) for node, each in zip(nodes, asked, strict=True))
    for part, start in parts:
        _explain(part, [start], sites, found)


def _paired(fork: PipelineNode, nodes: Sequence[PipelineNode], inputs: Sequence[int]) -> list[Part]:
    """Return the inputs' nodes with their calls; [] where it cannot be told which belongs to which.

    tf.data numbers its nodes as they are made, a consumer before its input (DatasetBase::MakeIterator in tensorflow/core/
    framework/dataset.cc): what does not follow a concatenate itself was made later, when its first input had ended. What
    chooses between datasets is the first input, and no call of the user's where they are sampled.
    """
    heads = sorted((each for each in nodes if each.parent == fork.node), key=lambda each: each.node)
    if base_name(fork.name) == "Concatenate" and len(heads) == 1 and len(inputs) > 1:
        inputs = inputs[:1] if heads[0].node == fork.node + 1 else inputs[1:]
    if not inputs or len(heads) < len(inputs):
        return []
    return [
        ([head, *_below(head, nodes)], start)
        for head, start in zip(heads[len(heads) - len(inputs) :], inputs, strict=True)
    ]


def _below(top: PipelineNode, nodes: Sequence[PipelineNode]) -> list[PipelineNode]:
    """Return the nodes below one, in their order: consumers before inputs."""
    inside = {top.node}
    found: list[PipelineNode] = []
    for each in nodes:
        if each.parent in inside:
            inside.add(each.node)
            found.append(each)
    return found
