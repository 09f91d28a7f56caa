"""GPUs by NVML name: the right row, in the right order, and tensor cores by chip."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge import gpus, memory_pool, versions


def key(name: str) -> str | None:
    spec = gpus.spec_for(name)
    return None if spec is None else spec.key


def test_a_t4_has_tensor_cores_and_a_gtx_1660_of_the_same_capability_has_not() -> None:
    assert gpus.has_tensor_cores("Tesla T4", "7.5") is True
    assert gpus.has_tensor_cores("NVIDIA GeForce GTX 1660", "7.5") is False
    assert gpus.has_tensor_cores("NVIDIA GeForce MX450") is False
    assert gpus.has_tensor_cores("NVIDIA Something New", "7.5") is None


@pytest.mark.parametrize(
    ("cc", "expected"), [("6.1", False), ("7.0", True), ("8.6", True), ("12.0", True), (None, None)]
)
def test_an_unknown_gpu_is_judged_by_its_capability_where_that_is_clear(
    cc: str | None, *, expected: bool | None
) -> None:
    assert gpus.has_tensor_cores("NVIDIA Something New", cc) is expected
    assert gpus.has_tensor_cores(None, cc) is expected


@pytest.mark.parametrize("spec", gpus.GPUS, ids=lambda spec: spec.key)
def test_every_nvml_name_leads_to_its_row_by_pattern_too(spec: gpus.GpuSpec) -> None:
    for name in spec.nvml_names:
        assert gpus.spec_for(name) is spec
        assert gpus.spec_for(f"{name} ") is spec, "not by the list of exact names but by the patterns, tried in order"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Tesla V100-SXM2-16GB", "v100-sxm"),
        ("Tesla V100-PCIE-32GB", "v100-pcie"),
        ("Tesla P100-PCIE-16GB", "p100-pcie"),
        ("Tesla P100-SXM2-16GB", "p100-sxm"),
        ("Tesla K80", "k80"),
        ("GeForce GTX 1080 Ti", "gtx-1080-ti"),
        ("GTX 1070 8 GB", "gtx-1070"),
        ("rtx 3080 ti", "rtx-3080-ti"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "h100-sxm"),
        ("NVIDIA GB200", "gb200"),
        ("Orin (nvgpu)", "jetson-agx-orin"),
        ("NVIDIA GeForce RTX 4090 D", "rtx-4090-d"),
        ("GRID T4-16Q", "t4"),
    ],
)
def test_names_in_the_wild_find_their_row(name: str, expected: str) -> None:
    assert key(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA GeForce RTX 3080 Laptop GPU",
        "NVIDIA GeForce RTX 4060 Laptop GPU",
        "Quadro P400",
        "Quadro P4000",
        "Radeon VII",
        "",
    ],
)
def test_other_gpus_with_like_names_are_not_taken_for_them(name: str) -> None:
    assert key(name) is None


@pytest.mark.parametrize("spec", gpus.GPUS, ids=lambda spec: spec.key)
def test_the_architecture_of_a_row_is_that_of_its_capability(spec: gpus.GpuSpec) -> None:
    assert spec.arch.removesuffix(" Ultra") == gpus.arch_of(spec.cc)


@pytest.mark.parametrize(
    ("cc", "arch"),
    [("3.7", "Kepler"), ("7.0", "Volta"), ("7.5", "Turing"), ("8.9", "Ada"), (90, "Hopper"), ("12.1", "Blackwell")],
)
def test_architectures_are_named_by_capability(cc: str | int, arch: str) -> None:
    assert gpus.arch_of(cc) == arch


def test_an_unlisted_capability_has_no_architecture() -> None:
    assert gpus.arch_of("10.7") == gpus.UNKNOWN
    assert gpus.arch_of("4.0") == gpus.UNKNOWN


@pytest.mark.parametrize("spec", gpus.GPUS, ids=lambda spec: spec.key)
def test_figures_are_there_and_plausible(spec: gpus.GpuSpec) -> None:
    assert spec.source
    assert versions.capability(spec.cc) >= 30
    assert spec.memory_gb
    assert spec.bandwidth_gbs > 0
    assert spec.fp32_tflops > 0
    assert spec.tdp_w > 0
    assert bool(spec.fp16_tflops) == spec.tensor_cores or spec.fp16_tflops is None
    if spec.tf32_tflops and spec.fp16_tflops:
        assert 1.9 < spec.fp16_tflops / spec.tf32_tflops < 2.1


def test_keys_are_unique() -> None:
    keys = [each.key for each in gpus.GPUS]
    assert len(keys) == len(set(keys))


def test_the_pool_is_what_is_free_less_a_reserve_by_generation() -> None:
    gib = 1024 * memory_pool.MIB
    assert memory_pool.reserve_bytes(gib, "8.6") == 225 * memory_pool.MIB
    assert memory_pool.reserve_bytes(8 * gib, "6.1") == 500 * memory_pool.MIB
    assert memory_pool.reserve_bytes(16 * gib, "7.5") == 1050 * memory_pool.MIB
    assert memory_pool.reserve_bytes(40 * gib, "8.0") == 1536 * memory_pool.MIB
    assert memory_pool.reserve_bytes(80 * gib, "9.0") == 1800 * memory_pool.MIB
    assert memory_pool.pool_bytes(80 * gib, "12.0") == 80 * gib - 1800 * memory_pool.MIB
    assert memory_pool.pool_bytes(0, "9.0") == 0
