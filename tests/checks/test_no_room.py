"""GD404: a GPU without room for the small network; a cap that a large batch reaches is none."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.memory.no_room import no_room
from tests.checks.case import Case
from tests.checks.machines import MIB, broken, healthy_h100, with_trial

LINE = {
    "memory_fixed_bytes": 2e6,
    "memory_per_example_bytes": 6400.0,
    "pool_bytes": 2.6 * MIB,
    "weights_bytes": 437_000.0,
}
LARGE = Trial(name="batch_ladder", device="GPU", values={"full_at_batch": 32768.0, **LINE})
SMALL = replace(
    LARGE, values={"full_at_batch": 128.0, **LINE}, notes=("batch 128 does not fit into the probe's memory cap: OOM",)
)
NONE_AT_ALL = broken("batch_ladder", status="oom", reason="batch 32 does not fit into the probe's memory cap")


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(healthy_h100(), trial, name="batch_ladder")


CASE = Case(
    check_code="GD404",
    fires=a_machine(SMALL),
    near_miss=a_machine(LARGE),
    lacking=a_machine(None),
    trial="batch_ladder",
    trial_variants=(None, LARGE),
)


def test_every_way_has_a_predicted_peak_from_the_line() -> None:
    (finding,) = judge(no_room, a_machine(SMALL)).findings
    peaks = {fix.id: fix.peak for fix in finding.fixes if fix.peak is not None}
    assert set(peaks) == {"gradient-accumulation", "smaller-batch", "mixed-precision-memory", "part-on-cpu"}
    smaller = peaks["smaller-batch"]
    assert smaller.low_bytes == smaller.high_bytes == round(2e6 + 6400 * 64)
    accumulated = peaks["gradient-accumulation"]
    assert accumulated.high_bytes == round(2e6 + 6400 * 64) + 437_000
    assert "line through measured peaks" in smaller.basis


def test_without_a_line_nothing_is_predicted() -> None:
    (finding,) = judge(no_room, a_machine(NONE_AT_ALL)).findings
    assert all(isinstance(fix.peak.high_bytes, Missing) for fix in finding.fixes if fix.peak is not None)


def test_a_ladder_that_crashed_is_no_pass() -> None:
    assert judge(no_room, a_machine(broken("batch_ladder"))).status is Outcome.INCONCLUSIVE
