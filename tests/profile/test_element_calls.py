"""Trivial maps that are called for each example can be what makes steps wait, though what they are told to take is little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.run import Change, Stage
from gpudoctor.profile.element_calls import batch_first

STEP_S, LEAST_S = 0.005, 0.001  # 80 % of a step waits


def stage(name: str, call_us: float = 0.0, visits: float = 128.0) -> Stage:
    cost_s = call_us * 1e-6
    return Stage(name=name, line=3, elements=int(1000 * visits), visits=visits, cost_s=cost_s, batch_s=cost_s * visits)


MAP, BATCH, SHUFFLE = stage("Map", 2.0), stage("BatchV2", 50.0, 1.0), stage("Shuffle", 0.6)
SOURCE = stage("TensorSlice", 0.7)
FUSED = stage("MapAndBatch", 128 * 20.0, 1.0)


def change(*stages: Stage, alone: float = 1.0, on_cpu: bool = False, seen: bool = False) -> Change | None:
    return batch_first(stages, step_s=STEP_S, least_s=LEAST_S, alone=alone, on_cpu=on_cpu, seen=seen)


def test_a_cheap_map_in_front_of_the_batch_is_told_to_stand_behind_it() -> None:
    found = change(BATCH, MAP, SHUFFLE, SOURCE)
    assert found is not None
    assert (found.kind, found.stage) == ("batch_first", 1)
    assert found.high == STEP_S / LEAST_S
    assert (
        1.4 < found.low < STEP_S / (STEP_S - 0.5 * (STEP_S - LEAST_S))
    )  # half of the wait, less what other stages take
    assert "128 calls a batch" in found.basis


def test_one_that_tensorflow_fused_with_its_batch_is_called_for_each_that_comes_in() -> None:
    found = change(stage("Prefetch", 0.0, 1.0), FUSED, SHUFFLE, SOURCE)
    assert found is not None
    assert (found.stage, "128 calls" in found.basis) == (1, True)


def test_of_several_maps_the_batch_comes_before_the_first() -> None:
    found = change(FUSED, stage("ParallelMapV2", 22.0), SOURCE)
    assert found is not None
    assert found.stage == 1
    assert "256 calls" in found.basis


@pytest.mark.parametrize("dear", [stage("Map", 38.0), stage("ParallelMapV2", 60.0)])
def test_a_map_whose_operations_take_longer_than_its_call_gains_nothing_by_whole_batches(dear: Stage) -> None:
    assert change(BATCH, dear, SOURCE) is None
    found = change(BATCH, MAP, dear, SOURCE)
    assert found is None or found.stage == 1  # the cheap one alone could move


def test_load_of_other_processes_makes_no_cheap_map_dear() -> None:
    busy = stage("ParallelMapV2", 45.0)
    assert change(BATCH, busy, SOURCE) is None
    assert change(BATCH, busy, SOURCE, alone=0.5) is not None


@pytest.mark.parametrize(
    "stages",
    [
        (BATCH, MAP, stage("TFRecord", 20.0)),  # reading takes more than half of the wait
        (BATCH, MAP, stage("Generator", 30.0)),
        (BATCH, replace(MAP, python="python function"), SOURCE),
        (BATCH, replace(MAP, made_by="library"), SOURCE),
        (stage("Map", 2.0, 1.0), BATCH, SOURCE),  # it stands behind the batch already
        (stage("PaddedBatchV2", 50.0, 1.0), MAP, SOURCE),  # examples of many shapes
        (BATCH, stage("Filter", 2.0), MAP, SOURCE),
        (BATCH, stage("Map", 2.0, 8.0), SOURCE),  # eight calls do not take 4 ms
        (BATCH, replace(MAP, elements=0), SOURCE),
    ],
)
def test_nothing_is_said_where_something_else_makes_the_wait_or_a_batch_could_not_pass(
    stages: tuple[Stage, ...],
) -> None:
    assert change(*stages) is None


def test_without_a_gpu_the_step_is_relieved_of_the_calls_too_but_not_of_all_it_does() -> None:
    found = change(BATCH, MAP, SOURCE, on_cpu=True)
    assert found is not None
    assert found.high == pytest.approx(STEP_S / (LEAST_S / 4))


def test_costs_that_windows_tell_hold_the_passage_already() -> None:
    told = stage("Map", 22.0)  # 20 of them the passage
    assert change(BATCH, told, SOURCE) is None
    found = change(BATCH, told, SOURCE, seen=True)
    assert found is not None
    assert found.stage == 1
