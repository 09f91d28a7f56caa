"""fragmentation: the real allocator's state is measured in three ways, and each tells the truth that can be computed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from gpudoctor.logs.reader import read_events
from gpudoctor.probe.child_bench import Bench, Unsupported
from gpudoctor.probe.fragmentation_child import AGREE_SHARE, ENVIRONMENT, fragmentation, judge
from gpudoctor.probe.fragmentation_pool import Chunk, Measured
from tests.probe.real_tensorflow import ask, interpreter

MIB = 1 << 20
NEAR = 0.02  # how near each way must come to the truth


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """Ask all at once: each waits ten seconds for TensorFlow to give up, and nothing shortens that."""
    runs = ("none", "half", "severe", "oom", "trial", "without")
    interpreter()
    with ThreadPoolExecutor(len(runs)) as together:
        return dict(zip(runs, together.map(partial(ask, "allocate_patterns.py"), runs), strict=True))


@pytest.mark.tensorflow
@pytest.mark.parametrize(("pattern", "about"), [("none", 0.0), ("half", 0.5), ("severe", 0.97)])
@pytest.mark.parametrize("way", ["map", "printed", "search"])
def test_each_way_tells_the_truth_of_a_pattern(measured: dict[str, Any], pattern: str, about: float, way: str) -> None:
    told = measured[pattern]

    assert abs(told["truth"] - about) < NEAR
    assert abs(told[way] - told["truth"]) < NEAR, told


@pytest.mark.tensorflow
@pytest.mark.parametrize("pattern", ["none", "half", "severe"])
def test_get_memory_info_counts_the_same_bytes_as_the_chunks(measured: dict[str, Any], pattern: str) -> None:
    told = measured[pattern]

    assert told["pool_bytes"] == 256 * MIB
    assert abs(told["memory_info_bytes"] - told["in_use_bytes"]) < 0.001 * told["pool_bytes"]


@pytest.mark.tensorflow
def test_a_real_oom_with_more_free_than_asked_is_recognised_from_its_dump(measured: dict[str, Any]) -> None:
    told = measured["oom"]
    assert told["raised"] == "ResourceExhaustedError"
    assert told["asked_bytes"] < told["free_bytes"]

    (event,) = [each for each in read_events(told["text"].splitlines()) if each.kind == "oom"]

    assert event.values["shortage"] == "fragmentation"
    assert event.values["dump"] == "complete"
    assert abs(int(event.values["asked_bytes"]) - told["asked_bytes"]) < 256
    assert abs(int(event.values["free_bytes"]) - told["free_bytes"]) < 0.001 * 256 * MIB


@pytest.mark.tensorflow
def test_the_trial_trains_and_its_three_ways_agree(measured: dict[str, Any]) -> None:
    told = measured["trial"]

    assert (told["status"], told["reason"], told["device"]) == ("ok", "", "CPU")
    values = told["values"]
    assert values["methods_agree"] == 1
    assert values["largest_had_bytes"] == values["largest_free_bytes"]
    assert values["pool_bytes"] == values["total_free_bytes"] + values["in_use_bytes"]
    assert 0 < values["fragmentation_share"] < 1


@pytest.mark.tensorflow
def test_without_the_allocator_on_the_cpu_the_trial_is_unsupported(measured: dict[str, Any]) -> None:
    told = measured["without"]

    assert told["raised"] == "Unsupported"
    assert "TF_CPU_ALLOCATOR_USE_BFC" in told["reason"]


def test_the_drivers_own_allocator_on_a_gpu_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_GPU_ALLOCATOR", "cuda_malloc_async")

    with pytest.raises(Unsupported, match="cuda_malloc_async"):
        fragmentation(a_bench("GPU"))


def test_the_dump_can_be_printed_whatever_the_user_silenced() -> None:
    assert ENVIRONMENT["TF_CPP_MIN_LOG_LEVEL"] == "0"


def no_devices(_kind: str) -> list[str]:
    return []


def a_bench(device: str = "CPU") -> Bench:
    bench = Bench(SimpleNamespace(config=SimpleNamespace(list_physical_devices=no_devices)), None)
    bench.device = device
    return bench


CHUNKS = [Chunk(in_use=True, size=100 * MIB), Chunk(in_use=False, size=60 * MIB), Chunk(in_use=False, size=40 * MIB)]


def a_measurement(*, had: int = 60 * MIB, told: int | None = 100 * MIB, chunks: list[Chunk] = CHUNKS) -> Measured:
    return Measured(chunks, had, told, 200 * MIB)


def test_the_share_is_one_minus_largest_free_over_total_free() -> None:
    told = judge(a_bench(), a_measurement())

    assert told["status"] == "ok"
    assert abs(told["values"]["fragmentation_share"] - 0.4) < 1e-9


def test_an_allocator_that_does_not_give_what_it_lists_has_failed() -> None:
    told = judge(a_bench(), a_measurement(had=20 * MIB))

    assert told["status"] == "failed"
    assert "does not give it" in told["reason"]


def test_ways_that_disagree_are_inconclusive() -> None:
    assert judge(a_bench(), a_measurement(told=150 * MIB))["status"] == "inconclusive"
    assert judge(a_bench(), a_measurement(had=90 * MIB))["status"] == "inconclusive"
    printed = a_measurement()
    printed.printed_share = 0.4 + 2 * AGREE_SHARE
    assert judge(a_bench(), printed)["status"] == "inconclusive"


def test_without_the_allocators_own_figures_nothing_is_concluded() -> None:
    told = judge(a_bench(), a_measurement(chunks=[]))

    assert told["status"] == "inconclusive"
    assert "by search alone" in told["reason"]


def test_an_old_tensorflow_without_memory_info_is_judged_by_the_other_ways() -> None:
    assert judge(a_bench(), a_measurement(told=None))["status"] == "ok"
