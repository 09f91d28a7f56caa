"""GD105: CUDA_VISIBLE_DEVICES read as the driver reads it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Scheduler
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.gpu_hidden import hidden
from gpudoctor_checks.driver.visible_devices import Visible, read_list
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, make_gpu, make_machine, with_env, with_trial, without
from tests.checks.trials import on_cpu, trained

NO_DEVICE = {"cu_init": 100, "cu_init_name": "CUDA_ERROR_NO_DEVICE", "devices": ()}
HIDDEN = with_trial(with_env(changed(healthy_h100(), cuda=NO_DEVICE), CUDA_VISIBLE_DEVICES="-1"), on_cpu())
CASE = Case(
    check_code="GD105",
    fires=HIDDEN,
    near_miss=with_env(healthy_h100(), CUDA_VISIBLE_DEVICES="0"),
    lacking=without(HIDDEN, "env"),
    trial_variants=(None, trained()),
)
UUIDS = ("GPU-8932f937-d72c", "GPU-1111aaaa-0000", "GPU-1111bbbb-0000")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", Visible(count=1)),
        ("2,1", Visible(count=2)),
        (" 0 , 1 ", Visible(count=2)),
        ("00", Visible(count=1)),
        ("1gpu2,2ampere", Visible(count=2)),
        ("GPU-8932f937", Visible(count=1)),
        ("MIG-8932f937/1/0", Visible(count=1)),
        ("", Visible(count=0, stopped_at="an empty entry")),
        ("-1", Visible(count=0, stopped_at="-1")),
        ("0,2,-1,1", Visible(count=2, stopped_at="-1")),
        ("3", Visible(count=0, stopped_at="3")),
        ("NoDevFiles", Visible(count=0, stopped_at="NoDevFiles")),
        ("train.sh", Visible(count=0, stopped_at="train.sh")),
        ("0,0", Visible(count=0, stopped_at="0, named twice")),
        ("GPU-1111", Visible(count=0, stopped_at="GPU-1111")),
        ("GPU-9999", Visible(count=0, stopped_at="GPU-9999")),
    ],
)
def test_the_list_ends_where_the_driver_ends_it(value: str, expected: Visible) -> None:
    assert read_list(value, UUIDS) == expected


def test_a_uuid_cannot_be_wrong_where_the_machines_own_are_unknown() -> None:
    assert read_list("GPU-9999", (None,)) == Visible(count=1)


def test_a_list_that_ends_early_is_a_warning() -> None:
    machine = with_env(make_machine((make_gpu(0), make_gpu(1))), CUDA_VISIBLE_DEVICES="0,7")
    (finding,) = judge(hidden, machine).findings
    assert finding.severity is Severity.WARNING
    assert finding.summary == "CUDA_VISIBLE_DEVICES='0,7' gives 1 GPU(s): it ends at 7."


def test_a_shorter_list_that_is_right_hides_nothing_by_mistake() -> None:
    machine = with_env(make_machine((make_gpu(0), make_gpu(1))), CUDA_VISIBLE_DEVICES="1")
    assert judge(hidden, machine).status is Outcome.PASSED


def test_where_no_gpu_is_there_is_nothing_to_hide() -> None:
    assert judge(hidden, with_env(no_gpu_machine(), CUDA_VISIBLE_DEVICES="-1")).status is Outcome.PASSED


def test_an_unknown_number_of_gpus_leaves_it_open() -> None:
    machine = changed(without(HIDDEN, "gpus", "nvml"), kernel={"pci_gpus": Missing("no sysfs")}, cuda={"cu_init": 0})
    assert judge(hidden, machine).status is Outcome.INCONCLUSIVE


def test_a_scheduler_that_gave_no_gpu_is_asked_for_one() -> None:
    job = with_env(changed(HIDDEN, scheduler=Scheduler(kind="slurm")), CUDA_VISIBLE_DEVICES="NoDevFiles")
    (finding,) = judge(hidden, job).findings
    assert finding.fixes[0].text == "srun --gres=gpu:1 --pty gpudoctor scan"


@pytest.mark.parametrize(("on_bus", "severity"), [(True, Severity.ERROR), (False, Severity.INFO)])
def test_the_container_toolkits_void_is_an_error_only_where_a_gpu_exists(on_bus: bool, severity: Severity) -> None:
    machine = HIDDEN if on_bus else no_gpu_machine()
    machine = changed(machine, host={"container": "docker"}, env={"NVIDIA_VISIBLE_DEVICES": "void"})
    (finding,) = judge(hidden, machine).findings
    assert (finding.severity, finding.cause) == (severity, "container-no-gpu")


def test_in_a_container_without_libcuda_the_variable_hides_nothing_yet() -> None:
    machine = changed(HIDDEN, host={"container": "docker"}, cuda={"status": "library_not_found"})
    (finding,) = judge(hidden, machine).findings
    assert finding.severity is Severity.WARNING
    assert "would hide the GPU" in finding.summary


def foreign(value: str, *, unmasked: int | Missing) -> Snapshot:
    """Return a machine whose UUIDs were left out of the snapshot, with a name in the variable that CUDA does not know."""
    machine = healthy_h100()
    gpus = tuple(replace(gpu, uuid=Missing("identifier")) for gpu in machine.gpus or ())
    blind = changed(machine, gpus=gpus, cuda={**NO_DEVICE, "devices_unmasked": unmasked})
    return with_trial(with_env(blind, CUDA_VISIBLE_DEVICES=value), on_cpu())


@pytest.mark.parametrize(
    ("value", "unmasked"),
    [
        ("GPU-ffffffff-0000-0000-0000-000000000000", Missing("not asked")),
        ("GPU-ffffffff-0000-0000-0000-000000000000", 1),
        ("MIG-ffffffff-0000-0000-0000-000000000000", 1),
    ],
)
def test_a_uuid_that_cuda_does_not_know_hides_the_gpu(value: str, unmasked: int | Missing) -> None:
    (finding,) = judge(hidden, foreign(value, unmasked=unmasked)).findings
    assert finding.severity is Severity.ERROR
    assert finding.summary.endswith("hides every GPU.")


def test_a_mig_instance_that_works_and_one_that_nobody_could_check_are_no_fault() -> None:
    valid = with_env(healthy_h100(), CUDA_VISIBLE_DEVICES="MIG-ffffffff-0000-0000-0000-000000000000")
    assert judge(hidden, valid).status is Outcome.PASSED
    unsure = foreign("MIG-ffffffff-0000-0000-0000-000000000000", unmasked=Missing("not asked"))
    assert judge(hidden, unsure).status is Outcome.PASSED
