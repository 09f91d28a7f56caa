"""GD109: cuInit fails although the driver is loaded; a dead GPU is another matter."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.machine import DeviceNode, XidEvent
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.uvm_not_ready import not_ready
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, make_gpu, with_trial, without
from tests.checks.trials import on_cpu, trained

AFTER_SLEEP = with_trial(
    changed(
        healthy_h100(),
        cuda={
            "status": "error",
            "cu_init": 999,
            "cu_init_name": "CUDA_ERROR_UNKNOWN",
            "devices": Missing("cuInit 999"),
        },
    ),
    on_cpu(),
)
CARD_AND_CONTROL = tuple(
    DeviceNode(path=path, readable=True, writable=True) for path in ("/dev/nvidia0", "/dev/nvidiactl")
)
NO_UVM = changed(AFTER_SLEEP, kernel={"uvm_loaded": False, "device_nodes": CARD_AND_CONTROL})
CASE = Case(
    check_code="GD109",
    fires=AFTER_SLEEP,
    near_miss=healthy_h100(),
    lacking=without(AFTER_SLEEP, "cuda"),
    trial_variants=(None, trained()),
)


def test_after_sleep_the_module_is_reloaded_and_the_display_left_alone() -> None:
    (finding,) = judge(not_ready, AFTER_SLEEP).findings
    assert finding.fixes[0].text == "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"


def test_a_missing_node_is_made() -> None:
    (finding,) = judge(not_ready, NO_UVM).findings
    assert "/dev/nvidia-uvm missing" in finding.summary
    assert finding.fixes[0].text == "sudo nvidia-modprobe -c 0 -u"


def test_a_module_that_loads_on_first_use_is_no_fault_while_cuinit_succeeds() -> None:
    machine = changed(healthy_h100(), kernel={"uvm_loaded": False, "device_nodes": CARD_AND_CONTROL})
    assert judge(not_ready, machine).status is Outcome.PASSED


def test_a_lost_gpu_explains_cuinit_better() -> None:
    lost = replace(make_gpu(), status="gpu_lost")
    assert judge(not_ready, changed(AFTER_SLEEP, gpus=(lost,))).status is Outcome.PASSED
    assert judge(not_ready, changed(AFTER_SLEEP, kernel={"xids": (XidEvent(code=79),)})).status is Outcome.PASSED


def test_a_container_without_nodes_is_not_uvms_fault() -> None:
    machine = changed(NO_UVM, host={"container": "docker"}, kernel={"device_nodes": ()})
    assert judge(not_ready, machine).status is Outcome.PASSED


def test_a_cuinit_that_never_answered_is_not_a_pass() -> None:
    machine = changed(AFTER_SLEEP, cuda={"cu_init": Missing("timeout"), "status": "timeout"})
    assert judge(not_ready, machine).status is Outcome.INCONCLUSIVE


def test_a_loaded_driver_without_any_gpu_has_no_card_to_make_a_node_for() -> None:
    machine = changed(
        AFTER_SLEEP, cuda={"cu_init": 100}, gpus=(), kernel={"pci_gpus": (), "device_nodes": CARD_AND_CONTROL[1:]}
    )
    assert judge(not_ready, machine).status is Outcome.PASSED


def test_without_a_gpu_it_does_not_apply() -> None:
    assert judge(not_ready, no_gpu_machine()).status is Outcome.PASSED
