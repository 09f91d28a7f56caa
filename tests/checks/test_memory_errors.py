"""GD803: errors that were not corrected, and rows that wait or cannot be remapped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Ecc
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.hardware.memory_errors import errors
from tests.checks.case import Case
from tests.checks.machines import broken, make_gpu, make_machine, trained, with_trial, without


def counting(**counters: Any) -> Snapshot:  # the fields of Ecc, which checks them
    gpu = make_gpu()
    return make_machine((replace(gpu, ecc=replace(gpu.ecc, **counters)),))


PENDING = with_trial(counting(remap_pending=True, uncorrected=1), broken())
CASE = Case(
    check_code="GD803",
    fires=PENDING,
    near_miss=counting(corrected=41, retired_pages=2, remapped_rows=1),
    lacking=without(PENDING, "gpus"),
    trial_variants=(None, trained()),
)


@pytest.mark.parametrize(
    ("counters", "severity", "fix"),
    [
        ({"uncorrected": 3}, Severity.WARNING, "reset-gpu-0"),
        ({"remap_pending": True}, Severity.WARNING, "reset-gpu-0"),
        ({"remap_failed": True}, Severity.ERROR, "replace-board"),
    ],
)
def test_each_state_has_its_gravity_and_its_first_step(counters: dict[str, Any], severity: Severity, fix: str) -> None:
    (finding,) = judge(errors, counting(**counters)).findings
    assert (finding.severity, finding.fixes[0].id) == (severity, fix)


def test_a_training_that_fell_makes_it_an_error() -> None:
    (finding,) = judge(errors, PENDING).findings
    assert finding.severity is Severity.ERROR


def test_running_out_of_memory_proves_nothing_about_its_health() -> None:
    (finding,) = judge(errors, with_trial(PENDING, broken(status="oom"))).findings
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("ecc", "status"),
    [
        (Ecc(enabled=Missing("not_supported")), Outcome.PASSED),
        (Ecc(enabled=False, uncorrected=Missing("not_supported")), Outcome.PASSED),
        (Ecc(enabled=Missing("no_permission")), Outcome.SKIPPED),
        (Ecc(enabled=True, uncorrected=Missing("timeout")), Outcome.SKIPPED),
    ],
)
def test_a_board_that_does_not_count_passes_and_one_that_does_not_tell_does_not(ecc: Ecc, status: Outcome) -> None:
    assert judge(errors, make_machine((replace(make_gpu(), ecc=ecc),))).status is status
