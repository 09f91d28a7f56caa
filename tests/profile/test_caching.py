"""A cache is advised only where the data were seen to end, come again and fit: elsewhere it would keep a whole training."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.run import UNTIL_THE_END, Change, Settings, Stage
from gpudoctor.profile.caching import cache

GIB = 2**30


def stage(name: str, elements: int, visits: float = 8.0, *, python: str = "", size: float = 1000.0) -> Stage:
    return Stage(name=name, elements=elements, visits=visits, batch_s=0.02 if python else 0.0, python=python,
                 element_bytes=size, line=5)  # fmt: skip


BATCH = stage("BatchV2", 200, 1.0)
AGAIN, ONCE = stage("ForeverRepeat", 1600), stage("ForeverRepeat", 1600)
MAP = stage("Map", 100, python="python function")
ENDLESS = stage("Generator", 1600, python="generator")


def advised(
    *stages: Stage, at: int, epochs: int = 1, memory: int = 16 * GIB, steps: str | int = UNTIL_THE_END
) -> Change | None:
    settings = Settings(process={"fit_steps": steps})
    return cache(
        stages, at, step_s=0.02, least_s=0.002, epochs=epochs, memory_bytes=memory, settings=settings
    )  # fmt: skip


def test_below_a_repeat_that_began_again_a_cache_is_offered_for_as_many_rounds_as_were_seen() -> None:
    found = advised(BATCH, AGAIN, MAP, stage("Range", 101), at=2)
    assert found is not None
    assert "at most 1.43 MiB" in found.basis  # 1600 elements in all, 100 of them in the round under way
    assert 1.0 < found.low < found.high


@pytest.mark.parametrize("above", [ONCE, stage("FiniteRepeat", 1600), stage("ShuffleAndRepeat", 1600)])
def test_what_a_repeat_has_not_begun_again_may_have_no_end(above: Stage) -> None:
    assert advised(BATCH, above, ENDLESS, at=2, epochs=8) is None
    assert advised(BATCH, above, replace(MAP, elements=1600), stage("Range", 1600), at=2, epochs=8) is None


def test_above_an_endless_repeat_a_cache_is_offered_only_where_the_repeat_can_move_behind_it() -> None:
    fused = replace(MAP, name="MapAndBatch", elements=200, visits=1.0, element_bytes=8000.0)
    assert advised(fused, AGAIN, stage("Range", 1600), at=0, epochs=5) is None
    found = advised(fused, AGAIN, stage("Range", 174), at=0)
    assert found is not None
    assert "at most 1.36 MiB" in found.basis  # (1600 - 174) / 8 batches of 8000 bytes


def test_a_generator_must_have_ended_an_epoch_by_itself() -> None:
    chain = (BATCH, stage("FlatMap", 200), replace(ENDLESS, elements=200))
    assert advised(*chain, at=2, epochs=8) is not None
    assert advised(*chain, at=2, epochs=8, steps=25) is None  # steps_per_epoch ended it: it may go on for ever
    mapped = (BATCH, replace(MAP, elements=200), stage("FlatMap", 200), replace(ENDLESS, elements=200))
    assert advised(*mapped, at=1, epochs=8, steps=25) is None
    assert advised(*mapped, at=1, epochs=8) is not None


def test_files_and_arrays_end_by_nature() -> None:
    chain = (BATCH, replace(MAP, elements=200), stage("TensorSlice", 200))
    assert advised(*chain, at=1, epochs=8, steps=25) is not None
    assert advised(*chain, at=1, epochs=1, steps=25) is None
    assert advised(BATCH, stage("TFRecord", 200), at=1, epochs=3, steps=25) is not None


def test_what_would_not_fit_is_not_cached_and_a_round_that_has_just_begun_hides_no_size() -> None:
    large = 4.0 * 2**20
    chain = (BATCH, AGAIN, replace(MAP, elements=9, element_bytes=large), stage("Range", 10))
    assert advised(*chain, at=2, memory=16 * GIB) is None  # 9 elements of this round are 36 MiB, a round up to 6 GiB
    assert advised(*chain, at=2, memory=64 * GIB) is not None
    once = (BATCH, replace(MAP, elements=2000, element_bytes=large), stage("TensorSlice", 2000))
    assert advised(*once, at=1, epochs=3, memory=16 * GIB) is None


def test_what_is_cached_already_is_left() -> None:
    chain = (BATCH, stage("MemoryCache", 200), replace(MAP, elements=200), stage("TensorSlice", 200))
    assert advised(*chain, at=2, epochs=8) is None


@pytest.mark.parametrize(
    ("mine", "below", "offered"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_a_map_of_tensorflows_is_kept_only_where_it_and_all_below_were_seen_to_draw_nothing_at_random(
    mine: bool, below: bool, offered: bool
) -> None:
    parsed = stage("ParallelMapV2", 200, python="a cost")
    chain = (BATCH, replace(parsed, python="", random=mine), replace(MAP, elements=200, random=below))
    assert (advised(*chain, stage("TFRecord", 200), at=1, epochs=8) is not None) is offered


def test_a_map_of_which_nothing_is_known_is_not_kept() -> None:
    assert advised(BATCH, stage("ParallelMapV2", 200), stage("TFRecord", 200), at=1, epochs=8) is None


def test_a_shuffle_that_the_user_cannot_move_is_not_kept_in_a_cache() -> None:
    parsed = replace(stage("ParallelMapV2", 200), random=False)
    source = stage("TFRecord", 200)
    theirs = replace(stage("ShuffleV3", 200), snippet="ds = image_dataset_from_directory(folder)")
    mine = replace(theirs, snippet="ds = ds.shuffle(600)")
    assert advised(BATCH, parsed, mine, source, at=1, epochs=8) is not None
    assert advised(BATCH, parsed, theirs, source, at=1, epochs=8) is None
    assert advised(BATCH, replace(parsed, made_by="library"), mine, source, at=1, epochs=8) is None
