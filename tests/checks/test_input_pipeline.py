"""GD501: what the instruments show is told as what this machine can do, never as the user's fault."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.machine import Cpu
from gpudoctor.model.observed import Arm, Comparison, Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Processor, TrialStatus
from gpudoctor.testing import judge
from gpudoctor_checks.input.input_pipeline import limits
from tests.checks.case import Case
from tests.checks.machines import broken, changed, healthy_h100, with_trial, without_probe

Ratios = dict[tuple[str, str], float]
NOTHING = 0.95  # a ratio whose whole interval lies below the bar


def a_trial(name: str, ratios: Ratios, *, device: Processor = "GPU", half: float = 0.05) -> Trial:
    return Trial(
        name=name,
        device=device,
        arms=tuple(Arm(name=each, steps=84, step_s=0.004) for pair in ratios for each in pair),
        comparisons=tuple(
            Comparison(arm=arm, against=against, pairs=7, speedup=each, low=each - half, high=each + half)
            for (arm, against), each in ratios.items()
        ),
    )


def prefetch(injected: float, by_hand: float, *, device: Processor = "GPU", half: float = 0.05) -> Trial:
    ratios = {("default", "none"): injected, ("explicit", "none"): by_hand}
    return a_trial("prefetch", ratios, device=device, half=half)


def maps(ops: float, whole: float, calls: float, *, half: float = 0.05) -> Trial:
    ratios = {("tf_serial", "python"): ops, ("tf_parallel", "tf_serial"): calls, ("tf_batched", "tf_serial"): whole}
    return a_trial("map", ratios, device="CPU", half=half)


def a_machine(overlap: Trial | None, pipelines: Trial | None) -> Snapshot:
    return with_trial(with_trial(healthy_h100(), overlap, name="prefetch"), pipelines, name="map")


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(limits, machine).findings
    return finding


PAYS = a_machine(prefetch(1.7, 1.68), maps(4.1, 6.2, 1.8))
CASE = Case(
    check_code="GD501",
    fires=PAYS,
    near_miss=a_machine(prefetch(1.7, 1.68), maps(NOTHING, NOTHING, 1.03)),
    lacking=without_probe(PAYS),
    trial="map",
    trial_variants=(None, maps(NOTHING, NOTHING, 1.03)),
)


def test_what_pays_here_is_a_note_with_the_probes_own_gain() -> None:
    finding = the_finding(PAYS)
    assert finding.severity is Severity.INFO
    assert {fix.gain.grade for fix in finding.fixes} == {Grade.PROBE}
    assert [fix.id for fix in finding.fixes] == ["tf-ops-in-map", "map-batches", "parallel-map"]


def test_nobody_is_called_starved_for_the_probes_slow_arm() -> None:
    said = f"{the_finding(PAYS).summary} {the_finding(PAYS).basis}".lower()
    assert "starv" not in said
    assert "your own was not seen" in said


def test_prefetch_is_not_advised_where_tensorflow_adds_it() -> None:
    assert not any("prefetch" in fix.text for fix in the_finding(PAYS).fixes)


def test_prefetch_is_advised_where_tensorflow_adds_none() -> None:
    finding = the_finding(a_machine(prefetch(NOTHING, 1.7), maps(4.1, 6.2, 1.8)))
    assert finding.fixes[0].id == "prefetch"


def test_where_nothing_overlaps_it_says_so_and_asks_for_cores() -> None:
    finding = the_finding(a_machine(prefetch(NOTHING, NOTHING), maps(NOTHING, NOTHING, NOTHING)))
    assert "no overlap with training, parallel calls bring nothing" in finding.summary
    assert [fix.id for fix in finding.fixes] == ["more-cores"]


def test_the_cores_and_the_quota_stand_in_the_evidence() -> None:
    machine = changed(PAYS, host={"cpu": Cpu(cores=16, affinity=8, quota_cores=1.5)})
    assert {each.label: each.value for each in the_finding(machine).evidence}.items() >= {
        "cores": 8,
        "quota": 1.5,
    }.items()


def test_parallel_calls_are_never_advised_for_python() -> None:
    ops = next(fix for fix in the_finding(PAYS).fixes if fix.id == "tf-ops-in-map")
    assert "num_parallel_calls" not in ops.text


def test_noise_is_inconclusive_and_not_a_pass() -> None:
    machine = a_machine(prefetch(1.1, 1.1, half=0.4), maps(1.1, 1.1, 1.1, half=0.4))
    assert judge(limits, machine).status is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("status", ["refused", "crashed", "timeout", "inconclusive"])
def test_trials_that_did_not_end_are_not_a_pass(status: TrialStatus) -> None:
    verdict = judge(limits, a_machine(broken("prefetch", status=status), broken("map", status=status)))
    assert verdict.status is Outcome.INCONCLUSIVE
    assert "prefetch" in verdict.reason


def test_training_on_the_cpu_weighs_less() -> None:
    on_cpu = a_machine(prefetch(1.7, 1.68, device="CPU"), maps(4.1, 6.2, 1.8))
    assert the_finding(on_cpu).confidence < the_finding(PAYS).confidence
