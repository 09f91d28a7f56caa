"""With autotune off TensorFlow adds nothing by itself and tells no costs: what was not asked for is missing, and advised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.run import Pipeline
from gpudoctor.model.session import CallSite, IteratorRecord
from gpudoctor.profile.timeline import analyse
from tests.benchmarks.advice_gain import promised
from tests.profile.launched import with_tensorflow
from tests.profile.timelines import PROCESS, loop, readings, session

OFF = "autotune is off for this iterator"


def pipeline(*methods: str, why: str = OFF, **arguments: int) -> Pipeline:
    """Return the pipeline of a loop that waits half of its time, built by these methods from the source up."""
    sites = tuple(
        CallSite(
            process=PROCESS,
            site=number,
            method=method,
            file="train.py",
            line=number,
            callee="augment" if method == "map" else "",
            arguments=arguments if method == "map" else {},
            inputs=(number - 1,) if number else (),
        )
        for number, method in enumerate(methods)
    )
    rows = [(float(second), 50 * second, 0.5 * second) for second in range(40)]
    made = session(loop(), steps=readings(*rows))
    iterator = IteratorRecord(process=PROCESS, iterator=1, label="fit", site=len(methods) - 1, unknown=why)
    found = analyse(replace(made, call_sites=sites, iterators=(iterator,)), read=_nothing).pipeline
    assert found is not None
    return found


def _nothing(_: str, __: int) -> str:
    return ""


def kinds(found: Pipeline) -> list[str]:
    return [each.kind for each in found.changes if each.kind != "perfect"]


def test_a_prefetch_and_a_parallel_map_that_nobody_asked_for_are_advised() -> None:
    found = pipeline("from_tensor_slices", "map", "batch", "with_options")
    assert (found.prefetch, kinds(found)) == ("none", ["prefetch", "parallel_map"])
    parallel = next(each for each in found.changes if each.kind == "parallel_map")
    assert parallel.low == 1.0
    assert "unknown cost" in parallel.basis


def test_a_pipeline_whose_costs_are_unknown_says_so_at_the_end_of_the_report() -> None:
    rows = [(float(second), 50 * second, 0.5 * second) for second in range(40)]
    iterator = IteratorRecord(
        process=PROCESS, iterator=1, label="fit", unknown="this TensorFlow has no get_model_proto"
    )
    waits = replace(session(loop(), steps=readings(*rows)), iterators=(iterator,))
    said = "what each stage of the tf.data pipeline costs: this TensorFlow has no get_model_proto"
    assert said in analyse(waits, read=_nothing).limits
    quick = replace(waits, steps=readings(*((at, count, 0.001 * at) for at, count, _ in rows)))
    assert analyse(quick, read=_nothing).limits == ()


def test_what_was_asked_for_is_not_advised() -> None:
    assert kinds(pipeline("from_tensor_slices", "map", "batch", "prefetch", num_parallel_calls=-1)) == []


def test_nothing_is_advised_where_the_graph_is_unknown_for_another_reason() -> None:
    assert kinds(pipeline("from_tensor_slices", "map", "batch", why="tf.data's model was not read in time")) == []


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("arm", "fix", "advised"),
    [
        ("no_prefetch", "prefetch", True),
        pytest.param("prefetch", "prefetch", False, marks=pytest.mark.long),
        pytest.param("serial", "parallel-map", True, marks=pytest.mark.long),
        pytest.param("parallel", "parallel-map", False, marks=pytest.mark.long),
    ],
)
def test_in_a_real_run_what_is_missing_is_advised_with_a_range_and_what_is_there_is_not(
    arm: str, fix: str, advised: bool
) -> None:
    told = promised(with_tensorflow(), arm, fix)
    assert (told is not None) == advised
    assert told is None or 1.0 <= told[0] < told[1]
