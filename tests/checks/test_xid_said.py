"""GD851: the catalog tells the card's faults from the program's."""

from __future__ import annotations

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
