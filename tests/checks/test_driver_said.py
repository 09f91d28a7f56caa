"""GD152: versions that differ explain the other messages."""

from __future__ import annotations

from gpudoctor_checks.driver.driver_said import do_not_fit
from tests.checks.texts import UNUSABLE, found, text_case

CASE = text_case(
    "GD152", "libcuda reported version is: 470.57.2", "kernel reported version is: 460.91.3", variants=UNUSABLE
)


def test_two_versions_on_a_machine_want_a_reboot() -> None:
    finding = found(
        do_not_fit,
        "kernel version 460.91.3 does not match DSO version 470.57.2 -- cannot find working devices in this configuration",
    )
    assert (finding.cause, finding.fixes[0].id) == ("driver-library-mismatch", "reboot")


def test_two_versions_in_a_container_are_the_image_s_own_libcuda() -> None:
    finding = found(
        do_not_fit, "libcuda reported version is: 450.142.0", "kernel reported version is: 450.66.0", container="docker"
    )
    assert (finding.cause, finding.fixes[0].id) == ("driver-library-mismatch", "remove-driver-from-image")


def test_nvml_alone_in_a_container_wants_a_new_container() -> None:
    finding = found(do_not_fit, "Failed to initialize NVML: Driver/library version mismatch", container="docker")
    assert (finding.cause, finding.fixes[0].id) == ("driver-library-mismatch", "recreate-container")


def test_forward_compatibility_without_two_versions_is_cuda_compat() -> None:
    finding = found(
        do_not_fit,
        "failed call to cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW",
    )
    assert (finding.cause, finding.fixes[0].id) == ("forward-compat", "drop-cuda-compat")


def test_an_insufficient_driver_is_too_old() -> None:
    finding = found(
        do_not_fit, "cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version"
    )
    assert (finding.cause, finding.fixes[0].id) == ("driver-too-old", "install-driver")


def test_an_nvml_newer_than_the_hosts_driver_comes_with_the_image() -> None:
    finding = found(
        do_not_fit,
        "Failed to initialize NVML: Driver/library version mismatch",
        "NVML library version: 565.57",
        container="docker",
        driver="535",
    )
    assert finding.fixes[0].id == "remove-driver-from-image"


def test_under_the_last_driver_for_the_gpu_the_older_tensorflow_is_what_helps() -> None:
    finding = found(
        do_not_fit,
        "cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version",
        gpu="Tesla K80",
        driver="470.256.02",
        tf="2.20.0",
    )
    assert [each.id for each in finding.fixes] == ["install-older-tensorflow"]


def test_an_image_that_asks_for_a_newer_driver_names_both_ways_out() -> None:
    line = "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=10.2, please update your driver"
    finding = found(do_not_fit, line, driver="418.40", gpu="GTX 1080")
    assert (finding.cause, [each.id for each in finding.fixes]) == ("driver-too-old", ["install-driver", "older-image"])
