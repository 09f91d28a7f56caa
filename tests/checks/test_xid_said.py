"""GD851: the catalog tells the card's faults from the program's."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor_checks.hardware.xid_said import faulty
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case(
    "GD851",
    "NVRM: Xid (PCI:0000:02:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    variants=FAULTY,
)


def test_off_the_bus() -> None:
    finding = found(faulty, "NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.")
    assert (finding.cause, finding.fixes[0].id) == ("hardware-power-heat", "see-to-hardware")


def test_an_uncorrectable_error() -> None:
    finding = found(faulty, "NVRM: Xid (PCI:0000:65:00): 48, pid=1187, DBE (double bit error) ECC Error")
    assert (finding.cause, finding.fixes[0].id) == ("hardware-power-heat", "run-dcgmi-diag")


def test_a_kernel_that_was_stopped_is_a_question_to_the_kernel_log() -> None:
    finding = found(faulty, "failed to query event: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure")
    assert (finding.cause, finding.fixes[0].id) == ("hardware-power-heat", "read-xid")
    assert finding.confidence < 0.5


def test_a_channel_torn_down_names_the_fault_behind_it() -> None:
    line = "NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 00000001 caused by previous Xid 149"
    finding = found(faulty, line)
    assert (finding.severity, "149" in finding.summary) == (Severity.ERROR, True)


def test_a_fault_of_programs_again_and_again_on_one_gpu_may_be_the_card() -> None:
    lines = [f"NVRM: Xid (PCI:0000:18:00): 31, pid=337{n}, MMU Fault: faulted @ 0x7f75_7bd4f{n}00." for n in range(3)]
    assert found(faulty, *lines).severity is Severity.WARNING
    assert found(faulty, *lines[:2]).severity is Severity.INFO
    other = lines[0].replace("0000:18:00", "0000:3b:00")
    assert found(faulty, *lines[:2], other).severity is Severity.INFO
