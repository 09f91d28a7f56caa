"""GD154: the image's banner and Docker's own words."""

from __future__ import annotations

from gpudoctor_checks.driver.container_said import without_gpu
from tests.checks.texts import UNUSABLE, found, text_case

CASE = text_case(
    "GD154", "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.", variants=UNUSABLE
)


def test_the_banner_is_a_container_without_gpu() -> None:
    finding = found(
        without_gpu, "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available."
    )
    assert (finding.cause, finding.fixes[0].id) == ("container-no-gpu", "give-container-gpu")


def test_docker_without_the_capability_lacks_the_toolkit() -> None:
    finding = found(
        without_gpu, 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'
    )
    assert (finding.cause, finding.fixes[0].id) == ("container-no-gpu", "install-container-toolkit")


def test_docker_on_windows_has_no_toolkit_to_install() -> None:
    finding = found(
        without_gpu,
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]]',
        os="Windows 10",
    )
    assert finding.fixes[0].id == "docker-desktop-wsl2"


def test_a_host_without_a_driver_gets_one_and_no_other_start_of_the_container() -> None:
    line = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared"
    assert [each.id for each in found(without_gpu, line).fixes] == ["install-driver"]
    assert [each.id for each in found(without_gpu, line, os="windows").fixes] == ["install-driver-on-windows"]


def test_old_container_tools_that_start_cuda_are_renewed() -> None:
    finding = found(without_gpu, "nvidia-container-cli: initialization error: cuda error: unknown error")
    assert [each.id for each in finding.fixes] == ["update-container-tools", "renew-uvm"]


def test_inside_wsl_no_linux_driver_is_advised_for_a_container() -> None:
    line = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file"
    assert found(without_gpu, line, wsl="yes").fixes[0].id == "install-driver-on-windows"
    assert found(without_gpu, line, os="linux").fixes[0].id == "install-driver"
