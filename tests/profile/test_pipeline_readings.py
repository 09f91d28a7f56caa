"""Iterators of many epochs make one reading: the longest one's nodes, what it lost from another, and the mean of all costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.session import IteratorRecord, PipelineNode, Session
from gpudoctor.profile.pipeline_readings import reading
from tests.profile.timelines import PROCESS, session

NAMES = ("Root", "Map", "Shuffle", "TensorSlice")


def iterator_of(number: int, batches: int, cost_s: float, *, kept: int = 4) -> tuple[PipelineNode, ...]:
    """Return an epoch's nodes, of which the first `kept` were still there: a map of that cost, four elements a batch below."""
    counts = (batches, batches, 4 * batches, 4 * batches)
    return tuple(
        PipelineNode(
            process=PROCESS,
            iterator=number,
            node=at,
            parent=at - 1,
            name=name,
            num_elements=counts[at],
            processing_s=cost_s * batches if name == "Map" else 0.0,
        )
        for at, name in enumerate(NAMES[:kept])
    )


def of(*epochs: tuple[PipelineNode, ...]) -> tuple[Session, tuple[IteratorRecord, ...]]:
    """Return a session of these epochs, and their iterators."""
    iterators = tuple(
        IteratorRecord(process=PROCESS, iterator=number, label="fit", site=0) for number, _ in enumerate(epochs)
    )
    nodes = tuple(each for epoch in epochs for each in epoch)
    return replace(session(), iterators=iterators, pipeline_nodes=nodes), iterators


def test_what_the_longest_had_lost_is_taken_from_one_that_was_read_early() -> None:
    made, iterators = of(iterator_of(0, 5, 0.1), iterator_of(1, 20, 0.02, kept=3), iterator_of(2, 20, 0.02, kept=3))
    chosen, nodes = reading(made, iterators)
    assert chosen is not None
    assert chosen.iterator == 2
    assert [(each.name, each.num_elements) for each in nodes] == [
        ("Root", 20),
        ("Map", 20),
        ("Shuffle", 80),
        ("TensorSlice", 80),
    ]


def test_a_cost_is_the_mean_of_all_epochs_but_the_first() -> None:
    made, iterators = of(iterator_of(0, 20, 9.0), iterator_of(1, 20, 0.02), iterator_of(2, 20, 0.04))
    _, nodes = reading(made, iterators)
    cost = next(each.processing_s / each.num_elements for each in nodes if each.name == "Map")
    assert cost == pytest.approx(0.03)


def test_one_epoch_alone_is_read_as_it_is() -> None:
    made, iterators = of(iterator_of(0, 20, 0.02))
    chosen, nodes = reading(made, iterators)
    assert chosen is iterators[0]
    assert tuple(nodes) == made.pipeline_nodes


def test_another_graph_lends_nothing() -> None:
    other = tuple(replace(each, name="Other" + each.name) for each in iterator_of(0, 5, 0.1))
    made, iterators = of(other, iterator_of(1, 20, 0.02, kept=2))
    _, nodes = reading(made, iterators)
    assert [each.name for each in nodes] == ["Root", "Map"]


def test_iterators_that_gave_nothing_tell_nothing() -> None:
    made, iterators = of(iterator_of(0, 0, 0.0))
    assert reading(made, iterators) == (None, [])


def test_of_iterators_of_the_same_stages_the_one_that_was_read_latest_is_taken() -> None:
    """Of datasets laid end to end the second runs late: a reading half way through tells of few of its elements."""
    made, iterators = of(iterator_of(0, 12, 0.02), iterator_of(1, 20, 0.02), iterator_of(2, 12, 0.02))
    chosen, _ = reading(made, iterators)
    assert chosen is iterators[1]
