"""GD802: NVML tells the present, the kernel log the past; a second, sound GPU makes the loss lighter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import XidEvent
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.hardware.gpu_lost import lost
from tests.checks.case import Case
from tests.checks.machines import (
    broken,
    changed,
    healthy_h100,
    make_gpu,
    make_machine,
    on_cpu,
    trained,
    with_trial,
    without,
)

OFF_THE_BUS = XidEvent(code=79, pci="0000:18:00.0", message="GPU has fallen off the bus.")


def with_xids(machine: Snapshot, *events: XidEvent) -> Snapshot:
    return changed(machine, kernel={"xids": events})


def a_sick(status: str, index: int = 0) -> Gpu:
    return Gpu(index=index, status=status)


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(lost, machine).findings
    return finding


LOST = with_trial(with_xids(replace(healthy_h100(), gpus=(a_sick("gpu_lost"),)), OFF_THE_BUS), broken())
CASE = Case(
    check_code="GD802",
    fires=LOST,
    near_miss=with_xids(healthy_h100(), XidEvent(code=31, message="MMU fault")),
    lacking=without(LOST, "gpus", "kernel"),
    trial_variants=(None, trained()),
)


def test_a_lost_gpu_is_an_error_that_shows_its_xid() -> None:
    finding = the_finding(LOST)
    assert finding.severity is Severity.ERROR
    assert any(each.label == "Xid 79" for each in finding.evidence)
    assert "reboot" in finding.fixes[0].text


def test_a_gpu_that_must_be_reset_is_reset_not_rebooted_first() -> None:
    finding = the_finding(with_trial(replace(healthy_h100(), gpus=(a_sick("reset_required"),)), None))
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == "sudo nvidia-smi -i 0 --gpu-reset"


def test_training_on_another_gpu_makes_it_a_warning_and_no_contradiction() -> None:
    pair = with_trial(
        replace(make_machine((make_gpu(0), make_gpu(1))), gpus=(a_sick("gpu_lost"), make_gpu(1))), trained()
    )
    finding = the_finding(pair)
    assert finding.severity is Severity.WARNING
    assert finding.confidence > 0.9


def test_training_on_the_very_gpu_contradicts_it() -> None:
    assert the_finding(with_trial(LOST, trained())).confidence < 0.3


@pytest.mark.parametrize("code", [48, 79, 95])
def test_a_hardware_xid_on_a_gpu_that_answers_is_a_warning(code: int) -> None:
    machine = with_xids(healthy_h100(), XidEvent(code=code, message="as logged"))
    assert the_finding(machine).severity is Severity.WARNING
    assert the_finding(with_trial(machine, broken())).severity is Severity.ERROR


def test_a_hardware_xid_where_no_gpu_could_be_asked_is_an_error() -> None:
    blind = without(with_xids(healthy_h100(), OFF_THE_BUS), "gpus")
    assert the_finding(with_trial(blind, None)).severity is Severity.ERROR
    assert the_finding(with_trial(blind, on_cpu())).severity is Severity.ERROR
    assert the_finding(with_trial(blind, trained())).severity is Severity.WARNING


@pytest.mark.parametrize("code", [13, 31, 43, 45, 63, 154, 9999])
def test_an_xid_of_an_application_or_an_unknown_one_is_no_hardware_error(code: int) -> None:
    assert judge(lost, with_xids(healthy_h100(), XidEvent(code=code))).status is Outcome.PASSED


def test_an_unreadable_kernel_log_does_not_hide_that_nvml_finds_all_gpus_sound() -> None:
    machine = changed(healthy_h100(), kernel={"xids": Missing("no permission"), "log_readable": False})
    assert judge(lost, machine).status is Outcome.PASSED


def test_a_silent_gpu_with_a_hardware_xid_is_an_error() -> None:
    machine = with_trial(with_xids(replace(healthy_h100(), gpus=(a_sick("unknown_error"),)), OFF_THE_BUS), None)
    finding = the_finding(machine)
    assert finding.severity is Severity.ERROR
    assert "does not answer" in finding.summary


def test_a_gpu_in_an_unknown_state_is_not_a_pass() -> None:
    machine = replace(healthy_h100(), gpus=(a_sick("unknown_error"),))
    assert judge(lost, machine).status is Outcome.INCONCLUSIVE


def test_a_kernel_log_alone_is_not_a_pass() -> None:
    assert judge(lost, without(healthy_h100(), "gpus")).status is Outcome.INCONCLUSIVE
