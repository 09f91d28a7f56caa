"""GD114: a login node, a job without a GPU, and a GPU that works though the scheduler says nothing."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Scheduler
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import SchedulerKind
from gpudoctor.testing import judge
from gpudoctor_checks.driver.scheduler_without_gpu import granted_none
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_trial, without
from tests.checks.trials import on_cpu, trained

NO_JOB = Missing("no job")


def a_job(kind: SchedulerKind, granted: int | Missing, *, machine: Snapshot | None = None) -> Snapshot:
    job = Scheduler(kind=kind, allocated_gpus=granted, job="4711")
    return with_trial(changed(machine or no_gpu_machine(), scheduler=job), on_cpu())


def a_login_node(installed: SchedulerKind = "slurm") -> Snapshot:
    scheduler = Scheduler(kind="none", allocated_gpus=NO_JOB, job=NO_JOB, installed=installed)
    return with_trial(changed(no_gpu_machine(), scheduler=scheduler), on_cpu())


WITHOUT = a_job("slurm", 0)
CASE = Case(
    check_code="GD114",
    fires=WITHOUT,
    near_miss=a_job("slurm", 1, machine=healthy_h100()),
    lacking=without(WITHOUT, "scheduler"),
    trial_variants=(None, trained()),
)


def test_a_job_that_was_granted_none_asks_for_one() -> None:
    (finding,) = judge(granted_none, WITHOUT).findings
    assert finding.severity is Severity.WARNING
    assert finding.fixes[0].text == "srun --gres=gpu:1 --pty gpudoctor scan"


def test_a_job_without_a_gpu_on_a_node_that_has_some_is_an_error() -> None:
    hidden = changed(healthy_h100(), cuda={"cu_init": 100, "devices": ()})
    (finding,) = judge(granted_none, a_job("slurm", 0, machine=hidden)).findings
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("slurm", "srun --gres=gpu:1"),
        ("pbs", "qsub -I -l select=1:ngpus=1"),
        ("lsf", 'bsub -gpu "num=1"'),
        ("sge", "qrsh -l gpu=1"),
    ],
)
def test_a_login_node_is_told_its_own_schedulers_command(kind: SchedulerKind, command: str) -> None:
    (finding,) = judge(granted_none, a_login_node(kind)).findings
    assert "login node" in finding.summary
    assert finding.fixes[0].text.startswith(command)


def test_a_pod_asks_with_its_resources() -> None:
    (finding,) = judge(granted_none, a_job("kubernetes", 0)).findings
    assert finding.fixes[0].text == "resources: {limits: {nvidia.com/gpu: 1}}"


def test_a_laptop_without_scheduler_and_gpu_is_no_login_node() -> None:
    assert judge(granted_none, a_login_node("none")).status is Outcome.PASSED


def test_a_workstation_that_submits_jobs_and_has_a_gpu_is_no_login_node() -> None:
    scheduler = Scheduler(kind="none", allocated_gpus=NO_JOB, job=NO_JOB, installed="slurm")
    assert judge(granted_none, changed(healthy_h100(), scheduler=scheduler)).status is Outcome.PASSED


def test_a_sick_driver_in_a_job_is_not_the_schedulers_doing() -> None:
    sick = changed(healthy_h100(), cuda={"cu_init": 999, "devices": Missing("cuInit failed")})
    assert judge(granted_none, a_job("slurm", Missing("not told"), machine=sick)).status is Outcome.PASSED


def test_a_login_node_whose_gpu_could_not_be_looked_for_is_unknown() -> None:
    blind = without(a_login_node(), "cuda", "nvml", "kernel", "gpus")
    assert judge(granted_none, blind).status is Outcome.SKIPPED


def test_a_pod_that_tells_of_no_gpu_and_has_none_is_a_note() -> None:
    (finding,) = judge(granted_none, a_job("kubernetes", Missing("not told"))).findings
    assert finding.severity is Severity.INFO
    (finding,) = judge(granted_none, a_job("slurm", Missing("not told"))).findings
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("kind", ["slurm", "pbs", "lsf", "sge"])
def test_a_job_that_tells_nothing_and_whose_cuda_finds_no_device_was_likely_granted_none(kind: SchedulerKind) -> None:
    hidden = changed(healthy_h100(), cuda={"cu_init": 100, "devices": ()})
    (finding,) = judge(granted_none, a_job(kind, Missing("not told"), machine=hidden)).findings
    assert (finding.severity, finding.confidence) == (Severity.ERROR, 0.6)
