"""What `fit` is given is told by the user's own function, not by the generator that Keras wraps around it; and what helps it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.model.run import Pipeline
from gpudoctor.model.sampled import Burst, StackLine
from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode
from gpudoctor.profile.agent import feeders
from gpudoctor.profile.timeline import analyse
from tests.profile.launched import run, with_tensorflow
from tests.profile.timelines import PROCESS, loop, readings, session

SCRIPT = Path(__file__).parent / "scripts" / "fed_by_keras.py"
BATCH_S = 0.015


@pytest.mark.parametrize(
    ("kind", "callee", "method", "parallel"),
    [
        ("sequence", "Augmented.__getitem__", ("PyDataset", "Sequence"), False),
        ("threads", "Augmented.__getitem__", ("PyDataset", "Sequence"), True),
        ("generator", "endless", ("from_generator",), False),
    ],
)
def test_the_stage_of_what_fit_is_given_is_named_after_the_users_own_code(
    kind: str, callee: str, method: tuple[str, ...], parallel: bool, tmp_path: Path
) -> None:
    ran = run(tmp_path, with_tensorflow(), str(SCRIPT), kind)
    assert ran.code == 0, ran.err
    found = analyse(ran.session, read=_nothing).pipeline
    assert found is not None
    stage = next(each for each in found.stages if each.python)
    assert (stage.callee, Path(stage.callee_file).name, stage.made_by) == (callee, SCRIPT.name, "user")
    assert stage.method in method
    assert stage.parallel_asked is parallel


class Computed:
    """An object of the user's whose attributes are computed, and must not be."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        return 1


def test_nothing_of_the_users_is_called_while_it_is_looked_for() -> None:
    mine = Computed()
    chained = itertools.chain((1,), mine)

    def wrapped() -> Any:
        return chained

    assert feeders.behind(wrapped)["callee"] == "Computed.__next__"


def test_a_generator_is_found_behind_the_batches_that_keras_looked_at_first() -> None:
    def batches() -> Iterator[int]:
        yield 1

    held = itertools.chain([0], batches())

    def wrapped() -> Any:
        return held

    assert feeders.behind(wrapped)["callee"].endswith("batches")


def test_a_closure_without_any_code_of_the_users_tells_nothing() -> None:
    assert feeders.behind(itertools.count) == {}


def of_sequence(leaf: str, activity: str, **asked: Any) -> Pipeline:
    """Return the pipeline of a `fit` that waits 15 of 20 ms for a Sequence whose time goes into one line."""
    site = CallSite(
        process=PROCESS,
        site=0,
        method="from_generator",
        file="train.py",
        line=14,
        callee="Mine.__getitem__",
        callee_file="train.py",
        callee_line=6,
        arguments={"sequence": "PyDataset", "workers": 1, "use_multiprocessing": False, **asked},
    )
    node = PipelineNode(
        process=PROCESS,
        iterator=1,
        node=0,
        parent=-1,
        name="Generator",
        at=39.0,
        num_elements=1900,
        processing_s=1900 * BATCH_S,
        bytes_produced=1_900_000,
    )
    line = StackLine(
        process=PROCESS, file="train.py", line=9, function="__getitem__", role="pipeline", activity=activity, leaf=leaf,
        weight_s=20.0, samples=900,
    )  # fmt: skip
    rows = [(float(second), 50 * second, 0.75 * second) for second in range(40)]
    made = replace(
        session(loop(), steps=readings(*rows)),
        call_sites=(site,),
        iterators=(IteratorRecord(process=PROCESS, iterator=1, label="fit", site=0),),
        pipeline_nodes=(node,),
        stack_lines=(line,),
        bursts=(Burst(process=PROCESS, at=1030.0, samples=1000, duration_s=30.0),),
    )
    found = analyse(made, read=_nothing).pipeline
    assert found is not None
    return found


def kinds(found: Pipeline) -> list[str]:
    return [each.kind for each in found.changes if each.kind.startswith("worker")]


def test_a_sequence_of_numpy_is_offered_threads_and_one_of_plain_python_processes() -> None:
    assert kinds(of_sequence("numpy.sort", "numpy")) == ["worker_threads"]
    assert kinds(of_sequence("parse", "python")) == ["worker_processes"]


def test_a_sequence_with_workers_is_offered_no_others() -> None:
    assert kinds(of_sequence("numpy.sort", "numpy", workers=4)) == []
    assert kinds(of_sequence("parse", "python", workers=1, use_multiprocessing=True)) == []


def test_no_cache_is_offered_for_what_keras_makes() -> None:
    assert all(each.kind != "cache" for each in of_sequence("numpy.sort", "numpy").changes)


def _nothing(_: str, __: int) -> str:
    return ""
