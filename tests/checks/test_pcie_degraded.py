"""GD804: a narrow link counts under the probe's own load only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Pcie, Utilization
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.hardware.pcie_degraded import degraded
from tests.checks.case import Case
from tests.checks.machines import broken, make_gpu, make_machine, refused, with_trial


def moved(*, gen: int = 5, width: int = 16, looks: int = 9, rate: float = 6e9) -> Trial:
    values = {
        "host_to_device_bytes_per_s": rate,
        "gpu_index": 0.0,
        "link_samples": float(looks),
        "pcie_gen": float(gen),
        "pcie_gen_max": 5.0,
        "pcie_width": float(width),
        "pcie_width_max": 16.0,
    }
    return Trial(name="transfer", device="GPU", values=values)


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(make_machine(), trial, name="transfer")


NARROW = a_machine(moved(width=4))
CASE = Case(
    check_code="GD804",
    fires=NARROW,
    near_miss=a_machine(moved()),
    lacking=a_machine(None),
    trial="transfer",
    trial_variants=(None, moved()),
)


def test_a_narrow_link_under_load_is_a_warning() -> None:
    (finding,) = judge(degraded, NARROW).findings
    assert (finding.severity, finding.summary) == (Severity.WARNING, "GPU 0: PCIe at gen 5 x4 of gen 5 x16.")


def test_a_slow_generation_under_load_is_one_too() -> None:
    (finding,) = judge(degraded, a_machine(moved(gen=1, rate=2e9))).findings
    assert "gen 1 x16" in finding.summary


def test_an_idle_link_is_never_judged() -> None:
    assert judge(degraded, make_machine()).status is Outcome.INCONCLUSIVE


def test_what_nvml_showed_while_others_worked_does_not_count() -> None:
    busy = replace(
        make_gpu(),
        utilization=Utilization(gpu_percent=93),
        throttle_reasons=(),
        pcie=Pcie(gen=5, gen_max=5, width=4, width_max=16),
    )
    assert judge(degraded, make_machine((busy,))).status is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "trial",
    [
        replace(moved(width=4), values={"host_to_device_bytes_per_s": 6e9}),
        moved(width=4, looks=2),
        moved(width=4, rate=1e6),
        replace(moved(width=4), device="CPU"),
        broken("transfer"),
        refused("transfer"),
    ],
)
def test_copies_that_cannot_answer_are_no_pass(trial: Trial) -> None:
    assert judge(degraded, a_machine(trial)).status is Outcome.INCONCLUSIVE
