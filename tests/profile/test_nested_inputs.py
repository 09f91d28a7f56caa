"""What an interleave opens side by side is one input, and the Python inside it has the name of the function that does it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.pipeline_graph import stages_of
from tests.profile.timelines import PROCESS


def node(number: int, name: str, parent: int, elements: int, seconds: float = 0.0) -> PipelineNode:
    return PipelineNode(
        process=PROCESS, iterator=1, node=number, name=name, parent=parent, num_elements=elements, processing_s=seconds
    )


def site(number: int, method: str, inputs: tuple[int, ...] = (), **more: Any) -> CallSite:
    return CallSite(
        process=PROCESS, site=number, method=method, file="/x/train.py", line=10 + number, inputs=inputs, **more
    )


def interleaved(splitter: str, *, inside: str = "Map") -> tuple[PipelineNode, ...]:
    """Return batch, splitter of 64 a batch, its file names, and four open inputs that counted half of them together."""
    files = (node(2, "Range", 1, 8),)
    opened = tuple(
        each
        for at in range(4)
        for each in (node(10 + 2 * at, inside, 1, 800, 0.08), node(11 + 2 * at, "TensorSlice", 10 + 2 * at, 800))
    )
    return (node(0, "BatchV2", -1, 100), node(1, splitter, 0, 6400, 0.01), *files, *opened)


CALLS = (
    site(3, "batch", (2,)),
    site(2, "interleave", (1,), callee="load_shard", callee_line=25, python_function="busy", python_line=19),
    site(1, "range"),
)
ASKED = Session(schema_version=1, session="s", call_sites=CALLS)
ITERATOR = IteratorRecord(process=PROCESS, iterator=1, at=0.0, label="fit", file="/x/train.py", line=50, site=3)


@pytest.mark.parametrize("splitter", ["Interleave", "ParallelInterleaveV4"])
def test_open_inputs_are_one_with_the_elements_of_all(splitter: str) -> None:
    stages = stages_of(interleaved(splitter), ASKED, ITERATOR)
    assert [each.name for each in stages] == ["BatchV2", splitter, "Range", "Map", "TensorSlice"]
    inside = stages[3]
    assert inside.visits == pytest.approx(64)
    assert inside.batch_s == pytest.approx(64 * 0.0001)


def test_the_python_inside_has_its_own_name_and_the_line_that_asked_for_it() -> None:
    stages = stages_of(interleaved("Interleave"), ASKED, ITERATOR)
    assert (stages[3].python, stages[3].python_function, stages[3].line, stages[3].callee_line) == (
        "python function", "busy", 12, 19,
    )  # fmt: skip
    assert (stages[1].python, stages[1].callee) == ("", "load_shard")
    assert stages[2].line == 11


def test_python_of_the_function_itself_stays_the_splitters() -> None:
    stages = stages_of(interleaved("Interleave", inside="FiniteTake"), ASKED, ITERATOR)
    assert (stages[1].python, stages[1].python_function) == ("python function", "busy")
    assert [each.python for each in stages[2:]] == ["", "", ""]


def test_a_generator_is_no_copy_of_anything() -> None:
    nodes = (node(0, "BatchV2", -1, 100), node(1, "FlatMap", 0, 800), node(2, "FromTensor", 1, 1),
             node(3, "Generator", 1, 800, 0.8))  # fmt: skip
    calls = (site(2, "batch", (1,)), site(1, "from_generator", callee="make"))
    stages = stages_of(nodes, replace(ASKED, call_sites=calls), replace(ITERATOR, site=2))
    assert (stages[3].python, stages[3].visits, stages[3].line) == ("generator", 8.0, 11)
