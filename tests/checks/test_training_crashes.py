"""GD331: a crash, a hang or an end of memory of the probe is evidence, also where no check knows the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.observed import LogEvent
from gpudoctor.model.report import Outcome, Report, Status
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import TrialStatus
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.training_crashes import crashes
from tests.checks.case import Case
from tests.checks.machines import (
    broken,
    changed,
    cudnn,
    healthy_h100,
    healthy_t4,
    make_gpu,
    make_machine,
    refused,
    trained,
    with_library,
    with_trial,
)


def report(machine: Snapshot) -> Report:
    return diagnose(machine, registry.load().checks, level="standard")


CRASH = broken(status="crashed", reason="killed by signal 11 (SIGSEGV)")
CRASHES = with_trial(healthy_t4(), CRASH)
CASE = Case(
    check_code="GD331",
    fires=CRASHES,
    near_miss=healthy_t4(),
    lacking=with_trial(CRASHES, None),
    trial_variants=(trained(), refused()),
)


@pytest.mark.parametrize("machine", [healthy_t4(), healthy_h100()], ids=["T4", "H100"])
@pytest.mark.parametrize("status", ["crashed", "timeout", "oom"])
def test_a_machine_on_which_training_ends_badly_is_broken(machine: Snapshot, status: TrialStatus) -> None:
    judged = report(with_trial(machine, broken(status=status, reason="signal 11")))
    assert judged.summary.status is Status.BROKEN
    assert (judged.findings[0].code, judged.findings[0].severity) == ("GD331", Severity.ERROR)
    assert "signal 11" in judged.findings[0].summary


def test_the_last_lines_of_the_child_are_shown() -> None:
    assert CRASHES.probe is not None
    events = tuple(LogEvent(kind="other", text=f"line {number}", line=number) for number in range(1, 6))
    child = replace(CRASHES.probe.children[0], status="crashed", exit_code=-11, events=events)
    (finding,) = judge(crashes, replace(CRASHES, probe=replace(CRASHES.probe, children=(child,)))).findings
    shown = [each.value for each in finding.evidence]
    assert "line 5" in shown
    assert "line 1" not in shown
    assert -11 in shown


def test_on_an_h100_a_crash_is_not_blamed_on_compiling() -> None:
    judged = report(with_trial(healthy_h100(), CRASH))
    assert [each.code for each in judged.findings if each.severity is not Severity.INFO] == ["GD331"]


def test_a_child_that_was_still_compiling_did_not_crash() -> None:
    compiling = replace(broken(status="timeout"), notes=("ptx-jit",))
    judged = report(with_trial(healthy_h100(), compiling))
    assert judge(crashes, with_trial(healthy_h100(), compiling)).status is Outcome.PASSED
    assert judged.findings[0].code == "GD208"


def test_a_known_reason_stands_above_it() -> None:
    gtx = make_machine((make_gpu(name="NVIDIA GeForce GTX 1080", cc="6.1", ecc=False),))
    findings = report(with_trial(with_library(gtx, cudnn("9.28.0.42")), CRASH)).findings
    assert findings[0].code == "GD205"
    assert next(each.caused_by for each in findings if each.code == "GD331") == "GD205"


def test_also_without_a_gpu_a_crash_is_told() -> None:
    machine = with_trial(CRASHES, broken("cpu"), name="cpu")
    (finding,) = judge(crashes, changed(machine, gpus=())).findings
    assert finding.fixes[0].id == "train-on-cpu-to-compare"


def test_a_gpu_far_slower_than_the_cpu_is_a_warning_and_a_little_slower_is_overhead() -> None:
    judged = report(with_trial(healthy_t4(), trained(step_s=5.0)))
    assert judged.summary.status is Status.WARNING
    assert "5000.0 ms/step, 4.8 ms on the CPU" in judged.findings[0].summary
    assert judge(crashes, with_trial(healthy_t4(), trained(step_s=0.02))).status is Outcome.PASSED
    assert judge(crashes, with_trial(healthy_t4(), trained(step_s=5.0, device="CPU"))).status is Outcome.PASSED


@pytest.mark.parametrize(
    ("reason", "first"),
    [
        ("ResourceExhaustedError: failed to allocate memory", "see-memory-holders"),
        ("killed by the kernel: the machine or the control group ran out of memory", "see-host-memory"),
    ],
)
def test_an_end_of_memory_asks_who_has_the_memory_and_for_no_operation(reason: str, first: str) -> None:
    judged = report(with_trial(healthy_t4(), broken(status="oom", reason=reason)))
    assert judged.fixes[0].id == first
    assert "LAUNCH_BLOCKING" not in " ".join(each.text for each in judged.fixes)
