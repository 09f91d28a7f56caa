"""GD401: who holds a GPU's memory counts only where too little is left; a reservation is not a leak."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.gpu import Gpu, GpuProcess, Memory
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import HolderKind
from gpudoctor.testing import judge
from gpudoctor_checks.memory.gpu_memory_held import held
from tests.checks.case import Case
from tests.checks.machines import (
    GIB,
    MIB,
    broken,
    healthy_h100,
    make_gpu,
    make_machine,
    refused,
    trained,
    with_trial,
    without,
)


def a_process(
    share_mib: int, *, own: bool, kind: HolderKind = "compute", name: str = "python", pid: int = 812
) -> GpuProcess:
    return GpuProcess(pid=pid, kind=kind, memory_bytes=share_mib * MIB, name=name, own=own, command="train.py --secret")


def a_t4(*processes: GpuProcess, index: int = 0) -> Gpu:
    return make_gpu(index, name="Tesla T4", cc="7.5", memory_mib=15360, limit_w=70.0, processes=processes)


def a_machine(*gpus: Gpu) -> Snapshot:
    return make_machine(gpus)


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(held, machine).findings
    return finding


FULL = with_trial(a_machine(a_t4(a_process(14000, own=False))), broken(status="oom"))
CASE = Case(
    check_code="GD401",
    fires=FULL,
    near_miss=a_machine(a_t4(a_process(14000, own=True, kind="graphics", name="Xorg"))),
    lacking=without(FULL, "gpus"),
    trial_variants=(None, trained()),
)


def test_another_users_process_is_named_without_its_command_line() -> None:
    finding = the_finding(FULL)
    assert finding.severity is Severity.ERROR
    assert "held by another user, process 812" in finding.summary
    assert "secret" not in str(finding)
    assert "python" not in finding.summary


def test_a_full_gpu_is_no_more_than_a_warning_while_the_probe_was_not_tried() -> None:
    assert the_finding(with_trial(FULL, None)).severity is Severity.WARNING
    assert the_finding(with_trial(FULL, refused())).severity is Severity.WARNING


def test_a_probe_that_trained_beside_it_leaves_a_note() -> None:
    finding = the_finding(with_trial(FULL, trained()))
    assert finding.severity is Severity.INFO
    assert finding.confidence < 0.3


def test_tensorflows_own_reservation_is_not_a_leak_and_not_a_warning() -> None:
    finding = the_finding(with_trial(a_machine(a_t4(a_process(14200, own=True))), refused()))
    assert (finding.severity, finding.cause) == (Severity.INFO, "no-growth")
    assert "your own python 812" in finding.summary
    assert any("TF_FORCE_GPU_ALLOW_GROWTH=true" in fix.text for fix in finding.fixes)


def test_growth_is_not_advised_against_a_strangers_process() -> None:
    assert not any("GROWTH" in fix.text for fix in the_finding(FULL).fixes)


def test_an_idle_gpu_beside_it_is_the_first_fix() -> None:
    finding = the_finding(with_trial(a_machine(a_t4(a_process(14000, own=False)), a_t4(index=1)), None))
    assert finding.severity is Severity.INFO
    assert finding.fixes[0].text == "export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1"


def test_a_process_that_leaves_enough_is_told_and_no_more() -> None:
    finding = the_finding(a_machine(a_t4(a_process(4000, own=False))))
    assert finding.severity is Severity.INFO
    assert finding.fixes[0].gain.grade is Grade.UNPROVEN


def test_a_desktop_does_not_hold_the_gpu() -> None:
    machine = a_machine(make_gpu(memory_mib=4096, processes=(a_process(1500, own=True, kind="graphics", name="Xorg"),)))
    assert judge(held, machine).status is Outcome.PASSED


def test_a_small_board_is_not_held() -> None:
    assert judge(held, a_machine(make_gpu(name="GeForce MX150", cc="6.1", memory_mib=2000))).status is Outcome.PASSED


def test_an_mps_server_does_not_hold_the_gpu() -> None:
    machine = a_machine(a_t4(a_process(30, own=False, name="/usr/bin/nvidia-cuda-mps-server")))
    assert judge(held, machine).status is Outcome.PASSED


def test_a_full_gpu_without_a_list_of_processes_is_not_a_pass() -> None:
    full = replace(a_t4(), memory=Memory(total_bytes=15 * GIB, free_bytes=GIB), processes=Missing("not_supported"))
    verdict = judge(held, a_machine(full))
    assert verdict.status is Outcome.SKIPPED
    assert "does not show who holds it" in verdict.reason
    assert the_finding(with_trial(a_machine(full), broken(status="oom"))).severity is Severity.ERROR


def test_a_holder_in_another_container_is_seen_by_the_memory_alone() -> None:
    full = replace(a_t4(), memory=Memory(total_bytes=15 * GIB, free_bytes=GIB))
    finding = the_finding(with_trial(a_machine(full), None))
    assert finding.severity is Severity.WARNING
    assert "does not list" in finding.summary


def test_unknown_memory_is_not_a_pass() -> None:
    unified = replace(make_gpu(name="NVIDIA GB10", cc="12.1"), memory=Memory(free_bytes=Missing("not_supported")))
    assert judge(held, a_machine(unified)).status is Outcome.SKIPPED


def test_no_gpu_in_the_list_is_not_a_pass() -> None:
    assert judge(held, replace(healthy_h100(), gpus=())).status is Outcome.SKIPPED


def test_an_own_notebook_kernel_is_named_and_its_restart_is_the_first_fix() -> None:
    kernel = replace(a_process(14000, own=True, name="python3"), notebook=True)
    finding = the_finding(a_machine(a_t4(kernel)))
    assert "held by your own notebook kernel 812" in finding.summary
    assert [each.id for each in finding.fixes] == ["restart-kernel", "share-gpu", "see-gpu-holders"]
    assert finding.fixes[0].text.startswith("kill 812 ")


def test_an_own_leftover_can_be_ended_and_another_users_process_is_left_to_its_owner() -> None:
    both = a_t4(a_process(7000, own=True, pid=811), a_process(7000, own=False, pid=900))
    texts = {each.id: each.text for each in the_finding(a_machine(both)).fixes}
    assert texts["end-own-process"] == "kill 811"
    assert "900" not in "".join(texts.values())
