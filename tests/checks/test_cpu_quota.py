"""GD506: a quota below the processors that TensorFlow counts."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Cpu
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.input.cpu_quota import throttled
from tests.checks.case import Case
from tests.checks.healthy import healthy_8gpu
from tests.checks.machines import changed, healthy_h100, on_cpu


def with_quota(quota: float | Missing, *, hit: float | None = None, machine: Snapshot | None = None) -> Snapshot:
    hit_share = Missing("not counted") if hit is None else hit
    cpu = Cpu(model="Intel Xeon", cores=16, affinity=16, quota_cores=quota, quota_hit_share=hit_share)
    return changed(machine or healthy_h100(), host={"cpu": cpu})


CASE = Case(
    check_code="GD506",
    fires=with_quota(4.0),
    near_miss=with_quota(16.0),
    lacking=with_quota(Missing("no control group found")),
    trial_variants=(None, on_cpu()),
)


def test_a_quota_is_a_note_with_both_ways_out() -> None:
    (finding,) = judge(throttled, CASE.fires).findings
    assert finding.severity is Severity.INFO
    assert [fix.id for fix in finding.fixes] == ["more-cores", "threads-by-quota"]
    assert finding.fixes[1].text == "export TF_NUM_INTEROP_THREADS=4 TF_NUM_INTRAOP_THREADS=4"


def test_less_than_a_core_for_each_gpu_is_a_warning() -> None:
    (finding,) = judge(throttled, with_quota(4.0, machine=healthy_8gpu())).findings
    assert finding.severity is Severity.WARNING


def test_what_the_kernel_counted_is_shown_and_makes_it_surer() -> None:
    (counted,) = judge(throttled, with_quota(4.0, hit=0.43)).findings
    (uncounted,) = judge(throttled, CASE.fires).findings
    assert "in 43% of its periods" in counted.summary
    assert counted.confidence > uncounted.confidence


@pytest.mark.parametrize("quota", [Missing("unlimited"), 16.0, 32.0])
def test_a_quota_that_stops_nothing_passes(quota: float | Missing) -> None:
    assert judge(throttled, with_quota(quota)).status is Outcome.PASSED
