"""The tf.data pipeline from profiler windows: times and elements of each stage, and the user's line, without tf.data's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import Pipeline
from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.record import read_trace
from gpudoctor.profile.seen_pipeline import SeenNode, SeenPipeline, nodes_of, seen_pipeline
from gpudoctor.profile.timeline import analyse
from gpudoctor.profile.windows import window_share, window_shares
from tests.profile.launched import run, script, with_tensorflow
from tests.profile.test_windows import field
from tests.profile.timelines import PROCESS, loop, readings, session

Stats = Mapping[str, int | str]
Row = tuple[str, float, float, Stats]  # name, start and length in ms, statistics
ROOT = "Iterator::Root"
ROOT_ID, FIRST, SECOND, THIRD, FOURTH = (
    2**63 + 1,
    11,
    12,
    13,
    14,
)  # TensorFlow's are hashes of 64 bits, some written as negative


def trace(*threads: Sequence[Row]) -> bytes:
    """Return an XSpace with a host plane of these threads, the texts of statistics as references, as TensorFlow writes it."""
    rows = [row for thread in threads for row in thread]
    names = {name: at for at, name in enumerate(dict.fromkeys(name for name, *_ in rows), start=1)}
    texts = [each for *_, stats in rows for pair in stats.items() for each in pair if isinstance(each, str)]
    words = {word: at for at, word in enumerate(dict.fromkeys(texts), start=1)}
    plane = field(2, b"/host:CPU")
    for place, table in ((4, names), (5, words)):
        for word, at in table.items():
            plane += field(place, field(1, at) + field(2, field(1, at) + field(2, word.encode())))
    for thread in threads:
        events = b"".join(field(4, _event(row, names, words)) for row in thread)
        plane += field(3, field(1, 1) + field(3, 5_368) + events)
    return field(1, plane)


def _event(row: Row, names: Mapping[str, int], words: Mapping[str, int]) -> bytes:
    name, start, length, stats = row
    made = field(1, names[name]) + field(2, int(start * 1e9)) + field(3, int(length * 1e9))
    for key, value in stats.items():
        told = field(7, words[value]) if isinstance(value, str) else field(4, value)
        made += field(4, field(1, words[key]) + told)
    return made


def batches(count: int, every: float, *rows: Row) -> list[Row]:
    """Return the rows once for each batch."""
    return [(name, start + at * every, length, stats) for at in range(count) for name, start, length, stats in rows]


def iterator(number: int, above: int, name: str, **more: int | str) -> Stats:
    return {"name": name, "shapes": "[8] []", "types": "float int64", "id": number, "parent_id": above, **more}


def output(start: float, length: float, number: int = ROOT_ID) -> tuple[Row, Row]:
    """Return the fetch of a batch and the output's event in it."""
    shapes: Stats = {"name": "RootDataset:3", "shapes": "[?,8] [?]", "types": "float int64", "id": number}
    return ("IteratorGetNextOp::DoCompute", start - 1, length + 2, {"id": 5, "element_size": 80}), (
        ROOT,
        start,
        length,
        shapes,
    )


def seen(*threads: Sequence[Row]) -> dict[str, SeenNode]:
    found = seen_pipeline(trace(*threads))
    assert found is not None
    return {each.name: each for each in found.nodes}


def fetching(batch: int, every: float, stage: str, **more: int | str) -> list[Row]:
    """Return a consumer's thread, whose fetches wait for a stage with threads of its own."""
    waits = (f"{ROOT}::{stage}", 2.0, every - 4, iterator(FIRST, ROOT_ID, "first:2", **more))
    return batches(batch, every, *output(1.0, every - 2), waits)


def test_own_time_is_without_the_inputs_and_what_waits_for_a_prefetch_takes_none() -> None:
    path = f"{ROOT}::Prefetch"
    made: tuple[Row, ...] = (
        ("PrefetchProduce", 1.0, 18.0, {"element_id": 7}),
        (f"{path}::BatchV2", 2.0, 16.0, {**iterator(SECOND, FIRST, "batch:1"), "shapes": "[?,8] [?]"}),
        (f"{path}::BatchV2::Map", 3.0, 6.0, iterator(THIRD, SECOND, "map:0")),
        (
            f"{path}::BatchV2::Map::Range",
            3.0,
            1.0,
            {**iterator(FOURTH, THIRD, "range:0"), "shapes": "[]", "types": "int64"},
        ),
        (f"{path}::BatchV2::Map", 10.0, 7.0, iterator(THIRD, SECOND, "map:0")),
    )
    stages = seen(fetching(4, 20.0, "Prefetch", autotune="true"), batches(4, 20.0, *made))
    assert list(stages) == ["Root", "Prefetch", "BatchV2", "Map", "Range"]
    assert [round(each.cost_s * 1000, 3) for each in stages.values()] == [2.0, 2.0, 3.0, 12.0, 1.0]
    assert [each.visits for each in stages.values()] == [1.0, 1.0, 1.0, 2.0, 1.0]
    assert [each.element_bytes for each in stages.values()] == [80.0, 40.0, 80.0, 40.0, 8.0]
    assert [each.parent for each in stages.values()] == [-1, 0, 1, 2, 3]


def mapped(*spans: tuple[int, float, float], ended: Sequence[int] = (1, 2)) -> dict[str, SeenNode]:
    """Return the stages of a map fused with its batch of two, whose function's calls 1 and 2 work in these spans of a batch."""
    started: list[Row] = []
    for call, start in ((1, 1.0), (2, 11.0)):
        started += [
            ("MapAndBatchProduce", start, 2.0, {"element_id": 3}),
            (f"{ROOT}::MapAndBatch::Range", start + 0.5, 0.5, iterator(SECOND, FIRST, "range:0")),
            ("InstantiatedCapturedFunction::RunAsync", start + 1.5, 0.25, {"id": call}),
        ]
    own: Stats = {"batch_size": 2, "parallelism": 2, "autotune": "true", "buffered_elements": 5}
    pools = [[("ExecutorState::Process", start, length, {"id": call})] for call, start, length in spans]
    done: list[Row] = [("ExecutorDoneCallback", 19.0, 0.1, {"id": call}) for call in ended]
    return seen(fetching(4, 20.0, "MapAndBatch", **own), batches(4, 20.0, *started), *pools, done)


def test_the_function_of_a_parallel_map_costs_what_its_calls_took_in_the_pool() -> None:
    stages = mapped((1, 2.0, 6.0), (2, 12.0, 4.0))
    # each batch starts call 1 and call 2 once, which is all the pool shows of them
    assert stages["MapAndBatch"].cost_s == pytest.approx((6.0 + 4.0 + 2 * 1.5) / 1000)
    assert (stages["MapAndBatch"].parallelism, stages["MapAndBatch"].tunable) == (2.0, True)
    assert stages["MapAndBatch"].buffered == 5
    assert stages["Range"].visits == 2.0


def test_operations_of_a_call_that_ran_side_by_side_count_once() -> None:
    assert mapped((1, 2.0, 6.0), (1, 3.0, 4.0), (2, 12.0, 6.0))["MapAndBatch"].cost_s == pytest.approx(0.015)


def test_a_call_that_the_window_cut_off_tells_no_cost() -> None:
    assert mapped((1, 2.0, 6.0), (2, 12.0, 0.5), ended=(1,))["MapAndBatch"].cost_s == pytest.approx(0.015)


def test_what_an_operation_of_the_function_calls_in_turn_is_its_work() -> None:
    inner: list[Row] = [
        ("ExecutorState::Process", 2.0, 3.0, {"id": 1}),
        ("FunctionRun", 2.5, 0.5, {"id": 99}),
    ]
    pool: list[Row] = [("ExecutorState::Process", 5.0, 4.0, {"id": 99})]
    rows: tuple[Row, ...] = (
        ("ParallelMapProduce", 1.0, 1.0, {"element_id": 3}),
        (f"{ROOT}::ParallelMapV2::Range", 1.0, 0.5, iterator(SECOND, FIRST, "range:0")),
        ("InstantiatedCapturedFunction::RunAsync", 1.5, 0.25, {"id": 1}),
    )
    stages = seen(fetching(4, 20.0, "ParallelMapV2"), batches(4, 20.0, *rows), inner, pool)
    assert stages["ParallelMapV2"].cost_s == pytest.approx(0.0075)


def test_the_datasets_that_an_interleave_made_are_one_stage_and_two_inputs_of_a_zip_are_two() -> None:
    rows: list[Row] = []
    for at in range(4):
        rows += [
            (f"{ROOT}::Zip", 20.0 * at + 2, 16.0, iterator(FIRST, ROOT_ID, "zip:4")),
            (f"{ROOT}::Zip[0]::Map", 20.0 * at + 3, 2.0, iterator(SECOND, FIRST, "map:0")),
            (f"{ROOT}::Zip[1]::Map", 20.0 * at + 6, 4.0, iterator(THIRD, FIRST, "map:1")),
            (
                f"{ROOT}::Zip[1]::Map::Interleave[{at}]::Range",
                20.0 * at + 7,
                1.0,
                iterator(40 + at, THIRD, f"range:{at}"),
            ),
        ]
    found = seen_pipeline(trace(batches(4, 20.0, *output(1.0, 18.0)), rows))
    assert found is not None
    assert [(each.name, each.parent) for each in found.nodes] == [
        ("Root", -1),
        ("Zip", 0),
        ("Map", 1),
        ("Map", 1),
        ("Range", 3),
    ]
    assert [round(each.cost_s * 1000, 3) for each in found.nodes[2:]] == [2.0, 3.0, 1.0]
    assert found.nodes[4].visits == 1.0


def test_the_later_part_of_a_concatenate_is_numbered_as_one_made_later() -> None:
    rows: list[Row] = []
    for at in range(4):
        rows += [
            (f"{ROOT}::Concatenate", 20.0 * at + 2, 16.0, iterator(FIRST, ROOT_ID, "concatenate:0")),
            (f"{ROOT}::Concatenate[1]::Map", 20.0 * at + 3, 9.0, iterator(SECOND, FIRST, "map:1")),
            (f"{ROOT}::Concatenate[1]::Map::Range", 20.0 * at + 4, 1.0, iterator(THIRD, SECOND, "range:1")),
        ]
    found = seen_pipeline(trace(batches(4, 20.0, *output(1.0, 18.0)), rows))
    assert found is not None
    nodes = nodes_of([found], iterator=1, batches=4)
    assert [(each.name, each.node, each.parent) for each in nodes] == [
        ("Root", 0, -1),
        ("Concatenate", 1, 0),
        ("Map", 3, 1),
        ("Range", 4, 3),
    ]


def test_of_two_iterators_the_one_that_was_waited_for_most_is_told() -> None:
    other: Row = (f"{ROOT}::Generator", 3.0, 11.0, iterator(SECOND, 77, "generator:0"))
    quick = batches(9, 20.0, *output(2.0, 0.5), (f"{ROOT}::Range", 2.1, 0.2, iterator(FIRST, ROOT_ID, "range:0")))
    slow = batches(4, 20.0, *output(2.0, 14.0, 77), other)
    assert list(seen(quick, slow)) == ["Root", "Generator"]


@pytest.mark.parametrize(
    "data", [b"", b"no trace at all", trace([("train", 0.0, 1.0, {})]), trace(fetching(2, 9.0, "Map"))]
)
def test_what_shows_no_three_batches_tells_nothing(data: bytes) -> None:
    assert seen_pipeline(data) is None


MAP_S = 0.009
METHODS = ("from_tensor_slices", "map", "batch")
STAGES = (
    SeenNode(name="Root", parent=-1, visits=1.0, cost_s=0.0, element_bytes=640.0),
    SeenNode(name="Prefetch", parent=0, visits=1.0, cost_s=0.0, tunable=True, element_bytes=640.0),
    SeenNode(name="BatchV2", parent=1, visits=1.0, cost_s=0.001, element_bytes=640.0),
    SeenNode(name="Map", parent=2, visits=8.0, cost_s=MAP_S, element_bytes=80.0),
    SeenNode(name="TensorSlice", parent=3, visits=8.0, cost_s=0.0002, element_bytes=80.0),
)
TOO_OLD = "before TensorFlow 2.18 only a profiler window tells, and none shows it"


def shown(*, label: str = "fit", cost_s: float = MAP_S, batches: int = 10) -> WindowShare:
    """Return a window that shows a serial map of that cost."""
    nodes = tuple(replace(each, cost_s=cost_s) if each.name == "Map" else each for each in STAGES)
    told = SeenPipeline(process=PROCESS, label=label, at=9999.0, batches=batches, nodes=nodes)
    return WindowShare(steps=batches, step_s=0.02, input_share=0.5, pipeline=told)


def waiting(*methods: str, unknown: str = TOO_OLD) -> Session:
    """Return a session of a loop that waits half of its time for what these methods built."""
    sites = tuple(
        CallSite(process=PROCESS, site=at, method=method, file="train.py", line=at + 1, inputs=(at - 1,) if at else ())
        for at, method in enumerate(methods)
    )
    made = session(loop(), steps=readings(*((float(each), 50 * each, 0.5 * each) for each in range(40))))
    own = IteratorRecord(process=PROCESS, iterator=1, label="fit", site=len(methods) - 1, unknown=unknown)
    return replace(made, call_sites=sites, iterators=(own,))


def pipeline(recorded: Session, *windows: WindowShare) -> Pipeline:
    found = analyse(recorded, windows, read=lambda _, __: "").pipeline
    assert found is not None
    return found


def test_without_a_model_windows_tell_the_slowest_stage_its_line_and_what_it_costs() -> None:
    found = pipeline(waiting(*METHODS), shown())
    assert found.slowest is not None
    assert (found.slowest.name, found.slowest.line, found.slowest.visits) == ("Map", 2, 8.0)
    assert found.slowest.batch_s == pytest.approx(MAP_S, rel=0.01)
    assert (found.prefetch, found.unknown) == ("tensorflow", "")
    assert found.window_batches == 10
    assert "parallel_map" in [each.kind for each in found.changes]


def test_several_windows_of_a_pipeline_are_means_and_longer_ones_weigh_more() -> None:
    found = pipeline(waiting(*METHODS), shown(cost_s=0.010, batches=10), shown(cost_s=0.004, batches=30))
    assert found.slowest is not None
    assert found.slowest.batch_s == pytest.approx(0.0055, rel=0.01)
    assert found.window_batches == 40


def test_windows_of_another_loop_tell_nothing_of_this_one() -> None:
    found = pipeline(waiting(*METHODS), shown(label="loop"))
    assert isinstance(found.batch_s, Missing)
    assert found.unknown == TOO_OLD


def test_tf_datas_own_model_comes_first() -> None:
    recorded = waiting(*METHODS, unknown="")
    nodes = tuple(
        PipelineNode(process=PROCESS, iterator=1, node=at, name=name, parent=at - 1, num_elements=90, processing_s=cost)
        for at, (name, cost) in enumerate((("Root", 0.0), ("BatchV2", 9.0), ("Map", 0.1)))
    )
    found = pipeline(replace(recorded, pipeline_nodes=nodes), shown())
    assert found.slowest is not None
    assert (found.slowest.name, found.window_batches) == ("BatchV2", 0)


def test_of_several_datasets_the_one_whose_calls_explain_the_stages_is_taken() -> None:
    recorded = waiting(*METHODS)
    other = CallSite(process=PROCESS, site=9, method="from_generator", file="train.py", line=40)
    later = replace(recorded.iterators[0], iterator=2, site=9)
    both = replace(recorded, call_sites=(*recorded.call_sites, other), iterators=(*recorded.iterators, later))
    found = pipeline(both, shown())
    assert found.slowest is not None
    assert found.slowest.line == 2


def test_python_that_no_window_shows_stays_the_suspect_without_a_cost() -> None:
    found = pipeline(waiting("from_generator", "map", "batch"), shown())
    assert found.slowest is not None
    assert found.slowest.python == "generator"
    assert isinstance(found.batch_s, Missing)
    assert "profiler windows show nothing" in found.unknown


TRAINING = """
import time
import tensorflow as tf

def noisy(number):
    value = tf.random.normal((400, 400)) * tf.cast(number, tf.float32)
    for _ in range(3):
        value = tf.matmul(value, value) / 400.0
    return value[0]

dataset = tf.data.Dataset.range(1000000).map(noisy).shuffle(4).batch(4)  # <- here
weights = tf.Variable(tf.zeros(400))

@tf.function
def step(batch):
    weights.assign_add(tf.reduce_mean(batch, 0) * 0.001)

batches, until = iter(dataset), time.time() + 6
while time.time() < until:
    step(next(batches))
"""


@pytest.mark.tensorflow
def test_in_a_real_run_windows_name_the_stage_and_cost_it_as_tf_datas_own_model_does(tmp_path: Path) -> None:
    ran = run(tmp_path, with_tensorflow(), script(tmp_path, TRAINING))
    assert ran.code == 0, ran.err.decode()[-2000:]
    recorded = ran.session
    first = next(each for each in recorded.windows if each.status == "ok")
    data = read_trace(ran.path, first.process, first.window)
    assert data is not None
    share = window_share(data)
    assert share is not None
    told = seen_pipeline(data, process=first.process, label=first.label, at=first.started_at)
    found = pipeline(replace(recorded, pipeline_nodes=()), replace(share, pipeline=told))
    assert found.slowest is not None
    here = next(number for number, line in enumerate(TRAINING.splitlines(), start=1) if "# <- here" in line)
    assert (found.slowest.name, found.slowest.line) == ("Map", here)
    assert found.prefetch == "tensorflow"
    model = pipeline(recorded, *window_shares(ran.path, recorded))
    assert model.slowest is not None
    assert model.slowest.name == "Map"
    assert found.slowest.visits == pytest.approx(model.slowest.visits, rel=0.2)
    assert 1 / 3 < found.slowest.batch_s / model.slowest.batch_s < 3  # of other moments of a busy machine
