"""GD110: closed nodes, NVML's own refusal, and a prohibiting compute mode."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.gpu import GpuProcess
from gpudoctor.model.machine import Nvml, Scheduler
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.device_permission import refused
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, make_gpu, nodes, with_trial, without
from tests.checks.trials import on_cpu, trained

CLOSED = tuple(replace(each, readable=False, writable=False, mode="0600") for each in nodes())
NO_DEVICE = {"status": "error", "cu_init": 100, "cu_init_name": "CUDA_ERROR_NO_DEVICE", "devices": ()}
ROOT_ONLY = with_trial(
    changed(
        healthy_h100(),
        kernel={"device_nodes": CLOSED},
        cuda=NO_DEVICE,
        nvml=Nvml(status="no_permission", message="Insufficient Permissions"),
        gpus=None,
    ),
    on_cpu(),
)
CASE = Case(
    check_code="GD110",
    fires=ROOT_ONLY,
    near_miss=healthy_h100(),
    lacking=without(ROOT_ONLY, "kernel"),
    trial_variants=(None, trained()),
)


def test_the_nodes_get_back_the_drivers_own_default() -> None:
    (finding,) = judge(refused, ROOT_ONLY).findings
    assert finding.fixes[0].text == "sudo chmod a+rw /dev/nvidia*"
    assert finding.evidence[0].label == "/dev/nvidia0"
    assert "NVreg_DeviceFileMode=0666" in finding.fixes[1].text, "chmod does not outlast a reboot"


def test_under_a_scheduler_a_gpu_is_asked_for() -> None:
    (finding,) = judge(refused, changed(ROOT_ONLY, scheduler=Scheduler(kind="slurm"))).findings
    assert finding.fixes[0].id == "ask-scheduler-for-gpu"


def test_a_job_that_was_given_one_gpu_of_two_is_fine() -> None:
    first = nodes(2)
    one_closed = (replace(first[0], readable=False, writable=False), *first[1:])
    machine = changed(healthy_h100(), kernel={"device_nodes": one_closed})
    assert judge(refused, machine).status is Outcome.PASSED
    assert judge(refused, changed(machine, cuda=NO_DEVICE)).status is Outcome.PASSED


def test_nvml_may_be_the_only_one_to_say_so() -> None:
    refusing = changed(healthy_h100(), cuda=NO_DEVICE, gpus=(replace(make_gpu(), status="no_permission"),))
    assert judge(refused, refusing).status is Outcome.FOUND
    assert judge(refused, changed(refusing, host={"container": "docker"})).status is Outcome.PASSED


def test_a_prohibiting_compute_mode_is_changed() -> None:
    machine = changed(healthy_h100(), gpus=(replace(make_gpu(), compute_mode="prohibited"),))
    (finding,) = judge(refused, machine).findings
    assert finding.fixes[0].text == "sudo nvidia-smi -c DEFAULT"
    mixed = changed(machine, gpus=(replace(make_gpu(), compute_mode="prohibited"), make_gpu(1)))
    assert judge(refused, mixed).status is Outcome.PASSED


def test_a_gpu_for_one_process_that_another_one_has_is_closed() -> None:
    process = GpuProcess(pid=812, kind="compute", memory_bytes=2**30, name="python", own=False)
    taken = replace(make_gpu(processes=(process,)), compute_mode="exclusive_process")
    (finding,) = judge(refused, changed(healthy_h100(), gpus=(taken,))).findings
    assert "process 812" in finding.summary
    assert finding.fixes[0].id == "compute-mode-default"
    free = replace(make_gpu(1), compute_mode="exclusive_process")
    assert judge(refused, changed(healthy_h100(), gpus=(taken, free))).status is Outcome.PASSED


def test_the_service_that_shares_a_gpu_is_no_other_process() -> None:
    server = GpuProcess(pid=9, kind="compute", memory_bytes=2**28, name="/usr/bin/nvidia-cuda-mps-server")
    shared = replace(make_gpu(processes=(server,)), compute_mode="exclusive_process")
    assert judge(refused, changed(healthy_h100(), gpus=(shared,))).status is Outcome.PASSED
