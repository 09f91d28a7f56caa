"""GD804: a narrow link counts under load only."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Pcie, Utilization
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.hardware.pcie_degraded import degraded
from tests.checks.case import Case
from tests.checks.machines import make_gpu, make_machine, on_cpu


def at_work(width: Maybe[int] = 16, gen: Maybe[int] = 5, *, busy: int = 93) -> Snapshot:
    gpu = replace(
        make_gpu(),
        utilization=Utilization(gpu_percent=busy),
        throttle_reasons=() if busy else ("GpuIdle",),
        pcie=Pcie(gen=gen, gen_max=5, width=width, width_max=16),
    )
    return make_machine((gpu,))


NARROW = at_work(width=4)
CASE = Case(
    check_code="GD804",
    fires=NARROW,
    near_miss=at_work(),
    lacking=at_work(width=4, gen=1, busy=0),
    trial_variants=(None, on_cpu()),
)


def test_a_narrow_link_under_load_is_a_warning() -> None:
    (finding,) = judge(degraded, NARROW).findings
    assert (finding.severity, finding.summary) == (Severity.WARNING, "GPU 0: PCIe at gen 5 x4 of gen 5 x16.")


def test_a_slow_generation_under_load_is_one_too() -> None:
    (finding,) = judge(degraded, at_work(gen=1)).findings
    assert "gen 1 x16" in finding.summary


def test_an_idle_link_is_never_judged() -> None:
    assert judge(degraded, make_machine()).status is Outcome.INCONCLUSIVE


def test_a_link_that_is_not_told_is_no_pass() -> None:
    assert judge(degraded, at_work(width=Missing("not_supported"))).status is Outcome.INCONCLUSIVE
