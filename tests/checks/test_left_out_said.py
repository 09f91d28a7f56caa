"""GD253: TensorFlow itself gives the reason."""

from __future__ import annotations

from gpudoctor_checks.libraries.left_out_said import left_out
from tests.checks.texts import UNUSABLE, found, text_case

CASE = text_case(
    "GD253",
    "Ignoring visible gpu device (device: 0, name: GeForce GTX 1070, pci bus id: 0000:01:00.0, compute capability: 6.1) with Cuda compute capability 6.1. The minimum required Cuda capability is 7.0",
    variants=UNUSABLE,
)


def test_the_official_build_is_offered_where_it_has_the_code() -> None:
    finding = found(
        left_out,
        "Ignoring visible gpu device (device: 0, name: GeForce GTX 1070, pci bus id: 0000:01:00.0, compute capability: 6.1) with Cuda compute capability 6.1. The minimum required Cuda capability is 7.0",
        tf="1.5.0",
    )
    assert (finding.cause, finding.fixes[0].id) == ("gpu-filtered", "install-official-build")


def test_few_multiprocessors_have_their_variable() -> None:
    finding = found(
        left_out,
        "Ignoring gpu device (device: 1, name: Quadro K4200, pci bus id: 0000:02:00.0) with Cuda multiprocessor count: 7. The minimum required count is 8.",
    )
    assert (finding.cause, finding.fixes[0].id) == ("gpu-filtered", "lower-multiprocessor-minimum")


def test_a_gpu_that_only_xla_counts_is_hidden() -> None:
    finding = found(left_out, "InvalidArgumentError: Invalid device ordinal value (1). Valid range is [0, 0].")
    assert (finding.cause, finding.fixes[0].id) == ("gpu-filtered", "set-visible-devices")


def test_a_number_that_no_gpu_has_is_counted_from_zero() -> None:
    finding = found(left_out, "RuntimeError: CUDA error: invalid device ordinal")
    assert (finding.cause, finding.fixes[0].id) == ("cuda-visible-devices", "set-visible-devices")
