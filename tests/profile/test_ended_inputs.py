"""An input that has ended, or begins again, takes its nodes out of tf.data's model: what they cost is then unknown, or read before, not nothing."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import Pipeline
from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.agent import core
from gpudoctor.profile.agent import pipeline as agent
from gpudoctor.profile.pipeline_graph import rounds, stages_of
from gpudoctor.profile.steps import main_loop
from gpudoctor.profile.timeline import analyse
from tests.profile.timelines import PROCESS, loop, readings, session

WHOLE = ("Root", "Prefetch", "FlatMap", "Generator")
ENDED = ("Root", "Prefetch", "FlatMap")


def recorded_session(*models: tuple[str, ...], methods: tuple[str, ...] = ("from_generator",)) -> Session:
    """Return the session of a loop that waits half of its time, an iterator for each of these models."""
    sites = tuple(
        CallSite(process=PROCESS, site=at, method=method, file="train.py", line=at + 1, inputs=(at - 1,) if at else ())
        for at, method in enumerate(methods)
    )
    iterators = tuple(
        IteratorRecord(process=PROCESS, iterator=number, label="fit", site=len(methods) - 1)
        for number, _ in enumerate(models)
    )
    nodes = tuple(
        PipelineNode(
            process=PROCESS,
            iterator=number,
            node=at,
            name=name,
            parent=at - 1,
            num_elements=100,
            processing_s=0.5 if name == "Generator" else 0.01,
        )
        for number, names in enumerate(models)
        for at, name in enumerate(names)
    )
    made = session(loop(), steps=readings(*((float(each), 50 * each, 0.5 * each) for each in range(40))))
    return replace(made, call_sites=sites, iterators=iterators, pipeline_nodes=nodes)


def pipeline(*models: tuple[str, ...], methods: tuple[str, ...] = ("from_generator",)) -> Pipeline:
    """Return the pipeline of such a session."""
    found = analyse(recorded_session(*models, methods=methods), read=lambda _, __: "").pipeline
    assert found is not None
    return found


def test_a_generator_that_had_ended_before_it_was_read_is_the_suspect_and_no_cost_is_made_of_what_was_left() -> None:
    found = pipeline(ENDED)
    assert found.slowest is not None
    assert found.slowest.python == "generator"
    assert isinstance(found.batch_s, Missing)
    assert "had ended" in found.unknown


def test_of_many_iterators_one_whose_input_was_still_there_is_taken() -> None:
    found = pipeline(ENDED, WHOLE, ENDED)
    assert found.slowest is not None
    assert found.slowest.name == "Generator"
    assert found.slowest.batch_s == pytest.approx(0.005)


def test_what_lies_below_a_full_cache_is_not_missed() -> None:
    found = pipeline(("Root", "Prefetch", "MemoryCache"), methods=("from_generator", "cache"))
    assert not found.unknown
    assert not isinstance(found.batch_s, Missing)


def test_what_is_repeated_costs_a_batch_all_of_its_elements_though_its_count_begins_again_each_time() -> None:
    rows = (
        (1, -1, "Root", 400, 0.0),
        (2, 1, "BatchV2", 400, 0.02),
        (3, 2, "ForeverRepeat", 25600, 0.01),
        (4, 3, "Map", 1600, 0.16),  # of a time before
        (5, 4, "TensorSlice", 1600, 0.002),
        (6, 3, "Map", 800, 0.08),
        (7, 6, "TensorSlice", 800, 0.001),
    )
    nodes = [
        PipelineNode(
            process=PROCESS, iterator=0, node=at, parent=parent, name=name, num_elements=count, processing_s=cost
        )
        for at, parent, name, count, cost in rows
    ]
    stages = stages_of(nodes, session(loop()), IteratorRecord(process=PROCESS, iterator=0))
    assert [(each.name, each.visits) for each in stages] == [
        ("BatchV2", 1.0),
        ("ForeverRepeat", 64.0),
        ("Map", 64.0),
        ("TensorSlice", 64.0),
    ]
    assert stages[2].batch_s == pytest.approx(0.0064)


@pytest.mark.parametrize(("models", "came"), [((WHOLE,), 1), ((WHOLE, WHOLE, ENDED), 3)])
def test_one_iterator_over_all_epochs_gives_nothing_twice(models: tuple[tuple[str, ...], ...], came: int) -> None:
    whole = recorded_session(*models)
    main = main_loop(whole)
    assert main is not None
    assert rounds(whole, main, pipeline(*models), epochs=3) == came


def test_behind_a_repeat_one_iterator_is_enough() -> None:
    repeated = ("Root", "ForeverRepeat", "FlatMap", "Generator")
    whole = recorded_session(repeated, methods=("from_generator", "repeat"))
    main = main_loop(whole)
    assert main is not None
    assert rounds(whole, main, pipeline(repeated, methods=("from_generator", "repeat")), epochs=3) == 3


def test_a_reading_that_only_lost_nodes_is_not_told_over_the_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    def emit(_: str, **row: int) -> None:
        told.append((row["node"], row["num_elements"]))

    monkeypatch.setattr(core, "emit", emit)
    watched = agent.Watched(1, None)
    for elements, count in ((70, 3), (94, 1), (94, 0)):
        agent.tell_whole(watched, SimpleNamespace(nodes=_nodes(elements, count)))
    assert told == [(0, 70), (1, 70), (2, 70)]


def test_a_reading_that_lost_nodes_and_gained_others_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    def emit(_: str, **row: int) -> None:
        told.append(row["node"])

    monkeypatch.setattr(core, "emit", emit)
    watched = agent.Watched(1, None)
    nodes = _nodes(10, 3)
    agent.tell_whole(watched, SimpleNamespace(nodes=nodes))
    agent.tell_whole(watched, SimpleNamespace(nodes={0: nodes[0], 5: nodes[2]}))
    assert told == [0, 1, 2, 0, 5]


def _nodes(elements: int, count: int) -> dict[int, SimpleNamespace]:
    same = {"processing_time": 0, "buffered_elements": 0, "buffered_bytes": 0, "bytes_produced": 0}
    return {
        at: SimpleNamespace(name="Map", inputs=[], num_elements=elements, parameters=[], **same) for at in range(count)
    }


def test_an_iterator_that_gave_nothing_and_one_of_another_fit_are_no_round_of_the_data() -> None:
    """Keras makes one more iterator at the end of `fit`, and takes nothing from it."""
    whole = recorded_session(WHOLE, WHOLE, WHOLE)
    main = main_loop(whole)
    assert main is not None
    found = pipeline(WHOLE, WHOLE, WHOLE)
    idle = tuple(replace(each, num_elements=0) if each.iterator == 2 else each for each in whole.pipeline_nodes)
    assert rounds(replace(whole, pipeline_nodes=idle), main, found, epochs=3) == 2
    (first, *others) = whole.iterators
    assert rounds(replace(whole, iterators=(replace(first, line=99), *others)), main, found, epochs=3) == 2
