"""GD155: container, variable and missing driver are weighed against each other."""

from __future__ import annotations

from gpudoctor_checks.driver.no_device_said import no_device
from tests.checks.texts import UNUSABLE, found, text_case

CASE = text_case(
    "GD155", "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", variants=UNUSABLE
)


def test_no_libcuda_in_a_container_is_a_container_without_gpu() -> None:
    finding = found(no_device, "failed call to cuInit: UNKNOWN ERROR (303)", container="docker")
    assert (finding.cause, finding.fixes[0].id) == ("container-no-gpu", "give-container-gpu")


def test_no_libcuda_on_a_machine_is_a_driver_that_is_not_there() -> None:
    finding = found(no_device, "failed call to cuInit: UNKNOWN ERROR (303)", container="none")
    assert (finding.cause, finding.fixes[0].id) == ("kernel-module-not-loaded", "load-driver")


def test_no_device_with_a_variable_is_the_variable() -> None:
    finding = found(
        no_device,
        "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        env_CUDA_VISIBLE_DEVICES="bash",
    )
    assert (finding.cause, finding.fixes[0].id) == ("cuda-visible-devices", "set-visible-devices")


def test_no_device_and_no_driver_in_a_container() -> None:
    finding = found(
        no_device,
        "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        "kernel driver does not appear to be running on this host (HOST): /proc/driver/nvidia/version does not exist",
        container="yes",
    )
    assert (finding.cause, finding.fixes[0].id) == ("container-no-gpu", "give-container-gpu")


def test_a_libcuda_that_finds_no_module_is_a_driver_half_there() -> None:
    finding = found(
        no_device,
        "failed call to cuInit: CUDA_ERROR_NO_DEVICE",
        "kernel driver does not appear to be running on this host (x): /proc/driver/nvidia/version does not exist",
    )
    assert (finding.cause, finding.fixes[0].id) == ("kernel-module-not-loaded", "load-driver")


def test_a_loaded_driver_without_a_node_is_a_container_or_a_node_that_nobody_made() -> None:
    lines = (
        "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        "no NVIDIA GPU device is present: /dev/nvidia0 does not exist",
    )
    assert found(no_device, *lines).cause == "container-no-gpu"
    outside = found(no_device, *lines, container="none")
    assert (outside.cause, outside.fixes[0].id) == ("uvm-not-ready", "renew-uvm")


def test_no_libcuda_where_the_kernel_tells_its_driver_is_no_missing_driver() -> None:
    lines = ("failed call to cuInit: UNKNOWN ERROR (303)", "kernel reported version is: 535.104.5")
    assert found(no_device, *lines).cause == "container-no-gpu"
    outside = found(no_device, *lines, container="none")
    assert (outside.cause, outside.fixes[0].id) == ("missing-cuda-libs", "loader-finds-libcuda")


def test_on_windows_the_variable_is_asked_for_and_set_as_its_shell_does() -> None:
    line = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
    finding = found(no_device, line, os="windows", env_CUDA_VISIBLE_DEVICES="-1")
    assert finding.fixes[0].text == "set CUDA_VISIBLE_DEVICES=0"
    assert any("%CUDA_VISIBLE_DEVICES%" in str(each.value) for each in finding.evidence)
