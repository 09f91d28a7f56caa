"""GD106: certain where the host shows a GPU, information where nothing does."""

from __future__ import annotations

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Cuda, Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.container_without_gpu import no_gpu_given
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_env, with_trial, without
from tests.checks.trials import on_cpu, trained

NO_LIBRARY = Cuda(status="library_not_found", libcuda_path=Missing("not found"))
DOCKER = changed(healthy_h100(), host={"container": "docker"})
WITHOUT = with_trial(
    changed(DOCKER, nvml=Nvml(status="library_not_found"), cuda=NO_LIBRARY, kernel={"device_nodes": ()}, gpus=None),
    on_cpu(),
)
CASE = Case(
    check_code="GD106",
    fires=WITHOUT,
    near_miss=DOCKER,
    lacking=without(WITHOUT, "kernel"),
    trial_variants=(None, trained()),
)


@pytest.mark.parametrize(
    ("container", "command"),
    [
        ("docker", "docker run --gpus all IMAGE"),
        ("podman", "podman run --device nvidia.com/gpu=all IMAGE"),
        ("kubernetes", "resources: {limits: {nvidia.com/gpu: 1}}"),
        ("singularity", "apptainer exec --nv IMAGE.sif python train.py"),
    ],
)
def test_each_kind_of_container_has_its_own_command(container: str, command: str) -> None:
    (finding,) = judge(no_gpu_given, changed(WITHOUT, host={"container": container})).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == command


def test_a_container_on_a_host_without_a_gpu_is_information() -> None:
    machine = with_env(changed(no_gpu_machine(), host={"container": "docker"}), CUDA_VERSION="12.4.1")
    (finding,) = judge(no_gpu_given, machine).findings
    assert (finding.severity, finding.fixes) == (Severity.INFO, ())
    assert finding.summary == "No GPU in this container, nor on its host."


def test_an_image_made_for_a_gpu_is_a_warning_where_the_bus_cannot_be_seen() -> None:
    machine = changed(no_gpu_machine(), host={"container": "docker"}, kernel={"pci_gpus": Missing("no sysfs")})
    assert judge(no_gpu_given, machine).findings[0].severity is Severity.INFO
    made_for_gpu = with_env(machine, NVIDIA_VISIBLE_DEVICES="all")
    assert judge(no_gpu_given, made_for_gpu).findings[0].severity is Severity.WARNING


def test_without_the_compute_capability_there_is_no_libcuda() -> None:
    machine = with_env(changed(DOCKER, cuda=NO_LIBRARY), NVIDIA_DRIVER_CAPABILITIES="utility")
    (finding,) = judge(no_gpu_given, machine).findings
    assert [fix.id for fix in finding.fixes] == ["give-container-gpu"]
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in finding.fixes[0].text


def test_libraries_may_be_mounted_where_the_image_does_not_look() -> None:
    (finding,) = judge(no_gpu_given, changed(DOCKER, cuda=NO_LIBRARY)).findings
    assert [fix.id for fix in finding.fixes] == ["give-container-gpu", "ldconfig"]


def test_a_container_that_was_given_its_device_is_not_accused() -> None:
    machine = changed(DOCKER, nvml=Nvml(status="unknown_error"), cuda={"cu_init": 100, "devices": ()})
    assert judge(no_gpu_given, machine).status is Outcome.PASSED


def test_outside_a_container_it_does_not_apply() -> None:
    assert judge(no_gpu_given, no_gpu_machine()).status is Outcome.PASSED


@pytest.mark.parametrize("variables", [{}, {"NVIDIA_DRIVER_CAPABILITIES": "utility"}])
def test_a_container_with_nodes_and_no_libcuda_is_started_anew_before_the_loader_is_blamed(
    variables: dict[str, str],
) -> None:
    mounted = changed(DOCKER, nvml=Nvml(status="ok"), cuda=NO_LIBRARY)
    machine = with_env(with_trial(mounted, on_cpu()), **variables)
    first = diagnose(machine, registry.load().checks).fixes[0]
    assert first.id == "give-container-gpu"
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in first.text
    assert "host" in first.title
