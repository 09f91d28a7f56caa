"""Where datasets come together, each input's stages get the calls of that input, also when another has ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.pipeline_graph import stages_of
from gpudoctor.profile.timeline import analyse
from gpudoctor.profile.windows import window_shares
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


def lines(*nodes: tuple[int, int, str], asked: Session = ASKED) -> list[tuple[str, int]]:
    """Return the stages' names and lines. `nodes`: number, consumer's number, name."""
    found = [
        PipelineNode(process=PROCESS, iterator=1, node=number, parent=parent, name=name, num_elements=10)
        for number, parent, name in nodes
    ]
    return [(each.name, each.line) for each in stages_of(found, asked, ITERATOR)]


def meeting(method: str, *inputs: int) -> Session:
    """Return the same calls with another one where the datasets come together."""
    sites = {each.site: each for each in ASKED.call_sites} | {5: site(5, method, *inputs)}
    return replace(ASKED, call_sites=tuple(sites.values()))


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


def test_a_part_of_which_no_call_is_known_gets_none_of_the_other() -> None:
    nodes, asked = (*OUTPUT, *FIRST), meeting("concatenate", 0, 4)
    assert lines(*nodes, asked=asked) == [*ASKED_OUTPUT, ("Map", 0), ("Range", 0)]
    assert lines(*OUTPUT, *SECOND, asked=asked) == [*ASKED_OUTPUT, ("Map", 4), ("Range", 3)]


def test_a_dataset_that_meets_itself_explains_both() -> None:
    nodes = ((1, -1, "BatchV2"), (2, 1, "Zip"), (3, 2, "Map"), (4, 3, "Range"), (5, 2, "Map"), (6, 5, "Range"))
    assert [line for _, line in lines(*nodes, asked=meeting("zip", 2, 2))] == [6, 5, 2, 1, 2, 1]


def test_an_input_that_lost_its_stages_takes_none_of_the_others() -> None:
    emptied = (3, 2, "FiniteTake")  # its own input has ended, and it not yet
    assert lines(*OUTPUT, emptied, *SECOND) == [*ASKED_OUTPUT, ("FiniteTake", 0), ("Map", 4), ("Range", 3)]


def test_inputs_of_a_zip_stand_each_for_itself_though_a_stage_of_the_first_was_taken_out() -> None:
    nodes = ((1, -1, "BatchV2"), (2, 1, "Zip"), (3, 2, "Range"), (4, 2, "Map"), (5, 4, "Range"))
    told = [("BatchV2", 6), ("Zip", 5), ("Range", 1), ("Map", 4), ("Range", 3)]
    assert lines(*nodes, asked=meeting("zip", 2, 4)) == told


@pytest.mark.parametrize(("method", "inputs"), [("sample_from_datasets", (2, 4)), ("choose_from_datasets", (1, 2, 4))])
def test_what_chooses_between_datasets_takes_none_of_their_calls(method: str, inputs: tuple[int, ...]) -> None:
    chooser = ((3, 2, "ParallelMapV2"), (4, 3, "Random"))
    nodes = (*OUTPUT[:1], (2, 1, "DirectedInterleave"), *chooser, (5, 2, "Map"), (6, 2, "Map"))
    assert lines(*nodes, asked=meeting(method, *inputs))[-2:] == [("Map", 2), ("Map", 4)]


SCRIPT = """
import sys
import time
import tensorflow as tf


def quick(x):
    return x


def slow(x):
    time.sleep(0.004)
    return x


def in_python(function):
    return lambda x: tf.ensure_shape(tf.numpy_function(function, [x], tf.float32), [8])


first = tf.data.Dataset.from_tensor_slices(tf.zeros([2400, 8]))
first = first.map(in_python(quick))
second = tf.data.Dataset.from_tensor_slices(tf.ones([2400, 8]))
second = second.map(in_python(slow))
if sys.argv[1] == "concatenate":
    data = first.take(400).concatenate(second).batch(8).map(lambda x: (x, x))
elif sys.argv[1] == "zip":
    data = tf.data.Dataset.zip((first, second)).batch(8)
else:
    chosen = tf.data.Dataset.range(2).repeat()
    data = tf.data.Dataset.choose_from_datasets([first, second], chosen).batch(8).map(lambda x: (x, x))
model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
model.compile("sgd", "mse")
model.fit(data, epochs=1, verbose=0)
"""


@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", ["concatenate", "zip", "choose"])
def test_the_slow_one_of_two_inputs_is_named_by_its_own_line(kind: str, tmp_path: Path) -> None:
    recorded = run(tmp_path, with_tensorflow(), script(tmp_path, SCRIPT), kind)
    assert recorded.code == 0, recorded.err
    windows = window_shares(recorded.path, recorded.session)
    found = analyse(recorded.session, windows, read=lambda _, __: "").pipeline
    assert found is not None
    assert found.slowest is not None
    assert found.slowest.line == SCRIPT.splitlines().index("second = second.map(in_python(slow))") + 1
    assert found.slowest.python_function == "slow"
