"""GD121: whatever number cuInit gives beside a GPU, there is an error with its meaning; a known reason stands above it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome, Report
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.cuda_init_failed import cannot_start
from tests.checks.case import Case
from tests.checks.healthy import healthy_8gpu, healthy_wsl2, no_gpu_machine
from tests.checks.machines import changed, healthy_h100, on_cpu, trained, with_env, with_trial, without


def failing(code: int, machine: Snapshot | None = None, *, name: str = "") -> Snapshot:
    cuda = {
        "cu_init": code,
        "cu_init_name": name or Missing("libcuda names it not"),
        "status": "error",
        "devices": Missing("cuInit failed"),
    }
    return with_trial(changed(machine or healthy_h100(), cuda=cuda), on_cpu())


def report(machine: Snapshot) -> Report:
    return diagnose(machine, registry.load().checks, level="standard")


FAILS = failing(3)
CASE = Case(
    check_code="GD121",
    fires=FAILS,
    near_miss=changed(FAILS, cuda={"cu_init": 0}),
    lacking=changed(FAILS, cuda={"cu_init": Missing("timeout")}),
    trial_variants=(None, trained()),
)


@pytest.mark.parametrize("code", [1, 2, 3, 34, 46, 100, 101, 214, 304, 802, 803, 804, 999, 12345])
@pytest.mark.parametrize("seen_by", ["NVML and the bus", "the bus alone", "NVML alone"])
def test_every_number_is_an_error_and_comes_first(code: int, seen_by: str) -> None:
    machine = failing(code)
    if seen_by == "the bus alone":
        machine = changed(without(machine, "gpus"), nvml={"device_count": Missing("no NVML"), "status": "timeout"})
    if seen_by == "NVML alone":
        machine = without(machine, "kernel")
    judged = report(machine)
    first = judged.findings[0]
    assert first.severity is Severity.ERROR
    assert judged.summary.status.value == "broken"
    assert "GD121" in {each.code for each in judged.findings}
    assert any(str(code) in str(each.value) for each in first.evidence)


def test_number_and_meaning_are_said_also_where_cuda_h_knows_neither() -> None:
    (known,) = judge(cannot_start, failing(2)).findings
    assert (known.evidence[0].unit, "memory" in known.summary) == ("CUDA_ERROR_OUT_OF_MEMORY", True)
    (unknown,) = judge(cannot_start, failing(12345)).findings
    assert "12345" in unknown.summary
    assert unknown.fixes[0].id == "read-nvidia-kernel-lines"


def test_behind_nvswitch_the_fabric_manager_is_started() -> None:
    (finding,) = judge(cannot_start, failing(802, healthy_8gpu())).findings
    assert finding.fixes[0].id == "start-fabric-manager"


@pytest.mark.parametrize(
    ("machine", "code", "above"),
    [
        (with_env(healthy_h100(), CUDA_VISIBLE_DEVICES="-1"), 100, "GD105"),
        (healthy_h100(), 999, "GD109"),
        (
            changed(healthy_h100(), nvml={"library_version": "13.570.1"}, cuda={"library_version": "570.1"}),
            803,
            "GD103",
        ),
    ],
)
def test_a_known_reason_stands_above_it(machine: Snapshot, code: int, above: str) -> None:
    findings = report(failing(code, machine)).findings
    assert findings[0].code == above
    assert next(each.caused_by for each in findings if each.code == "GD121") == above


def test_a_linux_libcuda_inside_wsl_is_named_as_the_reason() -> None:
    path = {"libcuda_path": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "origin": "driver"}
    assert report(failing(100, changed(healthy_wsl2(), cuda=path))).findings[0].cause == "wsl-libcuda"


def test_a_mig_instance_that_is_named_rightly_is_no_fault() -> None:
    machine = healthy_h100()
    assert machine.gpus is not None
    gpu = machine.gpus[0]
    machine = changed(machine, gpus=(replace(gpu, mig_mode="enabled", mig_instances=1),))
    machine = with_env(machine, CUDA_VISIBLE_DEVICES="MIG-5d6a2b1c-0000-0000-0000-000000000001")
    assert report(machine).summary.status.value == "healthy"


def test_without_a_gpu_there_is_nothing_to_start() -> None:
    assert judge(cannot_start, no_gpu_machine()).status is Outcome.PASSED
    assert judge(cannot_start, failing(100, changed(no_gpu_machine(), cuda={"status": "ok"}))).status is Outcome.PASSED


def test_a_gpu_that_nobody_could_look_for_is_not_a_pass() -> None:
    blind = changed(without(failing(100), "gpus", "kernel"), nvml={"device_count": Missing("no NVML")})
    assert judge(cannot_start, blind).status is Outcome.INCONCLUSIVE
