"""GD104: the reason decides the fix, and a machine without a GPU is information, never an error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Cuda, Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.kernel_module_not_loaded import not_loaded
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_trial, without
from tests.checks.trials import on_cpu, trained

SECURE_BOOT = with_trial(
    changed(
        healthy_h100(),
        nvml=Nvml(status="driver_not_loaded", message="Driver Not Loaded"),
        cuda={"status": "error", "cu_init": 100, "cu_init_name": "CUDA_ERROR_NO_DEVICE", "devices": ()},
        kernel={
            "module_loaded": False,
            "module_version": Missing("no module"),
            "uvm_loaded": False,
            "secure_boot": True,
            "module_on_disk": True,
            "device_nodes": (),
        },
        gpus=None,
    ),
    on_cpu(),
)
CASE = Case(
    check_code="GD104",
    fires=SECURE_BOOT,
    near_miss=healthy_h100(),
    lacking=without(SECURE_BOOT, "kernel"),
    trial_variants=(None, trained()),
)


@pytest.mark.parametrize(
    ("kernel", "fix"),
    [
        ({"secure_boot": True}, "enrol-module-key"),
        ({"secure_boot": False}, "load-kernel-module"),
        ({"secure_boot": False, "nouveau_loaded": True}, "blacklist-nouveau"),
        ({"module_on_disk": False, "secure_boot": False}, "build-kernel-module"),
    ],
)
def test_the_reason_decides_the_fix(kernel: dict[str, bool], fix: str) -> None:
    (finding,) = judge(not_loaded, changed(SECURE_BOOT, kernel=kernel)).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].id == fix


def test_no_driver_at_all_means_install_one() -> None:
    machine = changed(
        SECURE_BOOT,
        nvml=Nvml(status="library_not_found"),
        cuda=Cuda(status="library_not_found", libcuda_path=Missing("not found")),
        kernel={"module_on_disk": False, "secure_boot": False},
    )
    (finding,) = judge(not_loaded, machine).findings
    assert finding.fixes[0].text.startswith("sudo apt install nvidia-driver-")


def test_a_machine_without_a_gpu_is_information() -> None:
    (finding,) = judge(not_loaded, no_gpu_machine()).findings
    assert finding.severity is Severity.INFO
    assert finding.summary == "No NVIDIA GPU in this machine."


def test_a_driver_without_a_gpu_is_information() -> None:
    machine = changed(SECURE_BOOT, kernel={"pci_gpus": ()})
    assert judge(not_loaded, machine).findings[0].severity is Severity.INFO


def test_an_unreadable_bus_without_any_driver_is_not_a_pass() -> None:
    machine = changed(no_gpu_machine(), kernel={"pci_gpus": Missing("no_permission")})
    assert judge(not_loaded, machine).status is Outcome.SKIPPED


def test_wsl_has_its_module_in_windows() -> None:
    assert judge(not_loaded, changed(SECURE_BOOT, host={"wsl": True})).status is Outcome.PASSED


def test_a_container_on_a_host_without_its_module_is_told_so() -> None:
    (finding,) = judge(not_loaded, changed(SECURE_BOOT, host={"container": "docker"})).findings
    assert finding.severity is Severity.ERROR


def test_cuinit_outranks_what_proc_does_not_show() -> None:
    machine = replace(SECURE_BOOT, cuda=healthy_h100().cuda)
    assert judge(not_loaded, machine).status is Outcome.PASSED
