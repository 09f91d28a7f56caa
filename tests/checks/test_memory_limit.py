"""A memory limit divides a GPU: between two processes, or between TensorFlow's pool and the libraries beside it."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.gpu import Gpu, Memory
from gpudoctor.model.missing import Missing
from gpudoctor.sdk import Fix, Gpus, LogEvent
from gpudoctor_checks.memory.dump_need import from_dump
from gpudoctor_checks.memory.memory_limit import beside_another, reserve, the_gpu
from gpudoctor_checks.memory.ways_out import Need

MIB = 1 << 20
GIB = 1 << 30
A100 = Gpu(index=0, compute_capability="8.0", memory=Memory(total_bytes=40 * GIB))
OTHER = replace(A100, index=1, memory=Memory(total_bytes=80 * GIB))
SLIVER = LogEvent(
    kind="oom",
    values={"asked_bytes": str(800 * MIB), "in_use_bytes": str(4000 * MIB), "limit_bytes": str(4096 * MIB)},
)
NEED = from_dump(SLIVER, [])


def by_id(*gpus: Gpu, need: Need = NEED) -> dict[str, Fix]:
    return {fix.id: fix for fix in beside_another(need, Gpus(devices=gpus))}


def test_each_way_beside_another_process_has_its_peak_called_a_bound() -> None:
    fixes = by_id(A100)
    assert list(fixes) == ["end-other-process", "memory-limit-of-other", "raise-memory-limit", "smaller-batch"]
    peaks = [fix.peak for fix in fixes.values() if fix.peak is not None]
    assert [peak.low_bytes for peak in peaks] == [4800 * MIB] * 3 + [2400 * MIB]
    assert all(peak.bound and isinstance(peak.high_bytes, Missing) for peak in peaks)


def test_the_other_s_limit_leaves_what_is_needed_and_both_reserves() -> None:
    limit = 40 * 1024 - 4800 - 2 * 1536
    assert f"memory_limit={limit})" in by_id(A100)["memory-limit-of-other"].text
    assert "memory_limit=4800)" in by_id(A100)["raise-memory-limit"].text


def test_a_need_above_the_whole_gpu_is_not_cured_by_ending_the_other() -> None:
    ended = by_id(A100, need=replace(NEED, low=41 * GIB))["end-other-process"]
    assert (ended.gain.grade.value, "not enough" in ended.gain.basis) == ("unproven", True)
    assert by_id(A100)["end-other-process"].gain.grade.value == "unblocks"


def test_where_the_gpu_is_not_known_the_limit_is_a_sum_to_do() -> None:
    for gpus in ((), (A100, OTHER), (replace(A100, mig_mode="enabled"),)):
        assert "memory_limit=GPU_MIB - 4800)" in by_id(*gpus)["memory-limit-of-other"].text


def test_gpus_alike_are_as_good_as_one() -> None:
    assert the_gpu(Gpus(devices=(A100, replace(A100, index=1)))) == A100
    assert isinstance(the_gpu(Gpus(devices=(A100, OTHER))), Missing)


def test_without_a_dump_the_other_process_is_all_that_can_be_named() -> None:
    (only,) = by_id(A100, need=Need())
    assert only == "end-other-process"


def test_a_reserve_for_libraries_bounds_the_peak_from_above() -> None:
    fix = reserve(Gpus(devices=(A100,)))
    assert fix.peak is not None
    assert fix.peak.high_bytes == (40 * 1024 - 2 * 1536) * MIB
    assert f"memory_limit={40 * 1024 - 2 * 1536})" in fix.text
    assert "GPU_MIB - 3600)" in reserve(None).text
