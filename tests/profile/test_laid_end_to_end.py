"""Datasets laid end to end with `concatenate`: each part's stages get the calls of that part, also when the first has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.pipeline_graph import stages_of
from gpudoctor.profile.timeline import analyse
from tests.profile.launched import run, script, with_tensorflow
from tests.profile.timelines import PROCESS

ITERATOR = IteratorRecord(process=PROCESS, iterator=1, label="fit", site=6)


def site(number: int, method: str, *inputs: int) -> CallSite:
    return CallSite(process=PROCESS, site=number, method=method, file="/x/train.py", line=number, inputs=inputs)


ASKED = Session(
    schema_version=1,
    session="s",
    call_sites=(
        site(1, "range"),
        site(2, "map", 1),
        site(3, "range"),
        site(4, "map", 3),
        site(5, "concatenate", 2, 4),
        site(6, "batch", 5),
    ),
)


def lines(*nodes: tuple[int, int, str]) -> list[tuple[str, int]]:
    """Return the stages' names and lines. `nodes`: number, consumer's number, name."""
    found = [
        PipelineNode(process=PROCESS, iterator=1, node=number, parent=parent, name=name, num_elements=10)
        for number, parent, name in nodes
    ]
    return [(each.name, each.line) for each in stages_of(found, ASKED, ITERATOR)]


OUTPUT = ((1, -1, "BatchV2"), (2, 1, "Concatenate"))
FIRST = ((3, 2, "Map"), (4, 3, "Range"))
SECOND = ((5, 2, "Map"), (6, 5, "Range"))
ASKED_OUTPUT = [("BatchV2", 6), ("Concatenate", 5)]


def test_while_the_first_part_runs_its_calls_explain_the_stages() -> None:
    assert lines(*OUTPUT, *FIRST) == [*ASKED_OUTPUT, ("Map", 2), ("Range", 1)]


def test_when_the_first_part_has_ended_the_calls_of_the_second_explain_them() -> None:
    assert lines(*OUTPUT, *SECOND) == [*ASKED_OUTPUT, ("Map", 4), ("Range", 3)]


def test_parts_that_were_both_read_have_each_its_own() -> None:
    assert lines(*OUTPUT, *FIRST, *SECOND) == [*ASKED_OUTPUT, ("Map", 2), ("Range", 1), ("Map", 4), ("Range", 3)]


def test_a_concatenate_that_shows_no_input_is_no_reason_to_lose_calls() -> None:
    assert lines(*OUTPUT) == ASKED_OUTPUT


SCRIPT = """
import time
import tensorflow as tf


def quick(x):
    return x + 1.0


def slow(x):
    time.sleep(0.004)
    return x


def in_python(x):
    return tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), [8])


first = tf.data.Dataset.from_tensor_slices(tf.zeros([40, 8])).map(quick)
second = tf.data.Dataset.from_tensor_slices(tf.ones([2400, 8]))
second = second.map(in_python)
data = first.concatenate(second).batch(8).map(lambda x: (x, x))
model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
model.compile("sgd", "mse")
model.fit(data, epochs=1, verbose=0)
"""


@pytest.mark.tensorflow
def test_the_second_part_is_named_by_its_own_line(tmp_path: Path) -> None:
    recorded = run(tmp_path, with_tensorflow(), script(tmp_path, SCRIPT))
    assert recorded.code == 0, recorded.err
    found = analyse(recorded.session, read=lambda _, __: "").pipeline
    assert found is not None
    assert found.slowest is not None
    assert found.slowest.line == SCRIPT.splitlines().index("second = second.map(in_python)") + 1
    assert found.slowest.python_function == "slow"
