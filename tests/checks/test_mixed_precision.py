"""GD601: a measured interval decides; without one only missing tensor cores do, and never the compute capability."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Processor
from gpudoctor.testing import judge
from gpudoctor_checks.compute.mixed_precision import pays
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import (
    broken,
    healthy_h100,
    healthy_t4,
    make_gpu,
    make_machine,
    paired,
    refused,
    with_trial,
    without,
)


def the_trial(speedup: float, *, half: float = 0.05, device: Processor = "GPU") -> Trial:
    return paired("precision", "mixed", "float32", speedup=speedup, half=half, device=device)


def on(machine: Snapshot, trial: Trial | None) -> Snapshot:
    return with_trial(machine, trial, name="precision")


def a_gpu(name: str, cc: str) -> Snapshot:
    return make_machine((make_gpu(name=name, cc=cc),))


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(pays, machine).findings
    return finding


GTX_1660 = a_gpu("NVIDIA GeForce GTX 1660 SUPER", "7.5")
PAYS = on(healthy_h100(), the_trial(1.9))
CASE = Case(
    check_code="GD601",
    fires=PAYS,
    near_miss=no_gpu_machine(),
    lacking=without(PAYS, "gpus", "cuda"),
    trial="precision",
    trial_variants=(None, the_trial(0.95)),
)


def test_a_proven_gain_is_a_note_with_the_probes_gain() -> None:
    finding = the_finding(PAYS)
    assert (finding.severity, finding.cause) == (Severity.INFO, "mixed-precision-off")
    assert finding.fixes[0].gain.grade is Grade.PROBE
    assert finding.fixes[0].text == 'keras.mixed_precision.set_global_policy("mixed_float16")'
    assert "last layer in float32" in finding.fixes[0].title


def test_bfloat16_is_offered_from_ampere_on_only() -> None:
    assert "bfloat16" in the_finding(PAYS).fixes[0].title
    assert "bfloat16" not in the_finding(on(healthy_t4(), the_trial(2.4))).fixes[0].title


@pytest.mark.parametrize("trial", [None, refused("precision"), the_trial(0.6)])
def test_gtx_1660_gets_no_mixed_precision_advice(trial: Trial | None) -> None:
    finding = the_finding(on(GTX_1660, trial))
    assert finding.cause == "mixed-precision-no-gain"
    assert "no tensor cores" in finding.summary
    assert not any("mixed_float16" in fix.text or "bfloat16" in fix.text for fix in finding.fixes)


def test_pascal_gets_none_either() -> None:
    assert the_finding(on(a_gpu("NVIDIA GeForce GTX 1080 Ti", "6.1"), None)).cause == "mixed-precision-no-gain"


def test_a_measured_gain_outranks_the_table() -> None:
    assert the_finding(on(a_gpu("Tesla P100-PCIE-16GB", "6.0"), the_trial(1.4))).cause == "mixed-precision-off"


def test_measured_without_gain_on_tensor_cores_is_told_as_measured() -> None:
    finding = the_finding(on(healthy_h100(), the_trial(0.95)))
    assert finding.cause == "mixed-precision-no-gain"
    assert "float32 is as fast here" in finding.summary


def test_an_interval_that_reaches_the_bar_proves_nothing() -> None:
    verdict = judge(pays, on(healthy_h100(), the_trial(1.2, half=0.2)))
    assert verdict.status is Outcome.INCONCLUSIVE
    assert "no proven gain" in verdict.reason


@pytest.mark.parametrize(
    "trial",
    [
        broken("precision", status="inconclusive"),
        broken("precision"),
        refused("precision"),
        the_trial(1.9, device="CPU"),
    ],
)
def test_a_trial_that_cannot_answer_is_not_a_pass(trial: Trial) -> None:
    assert judge(pays, on(healthy_h100(), trial)).status is Outcome.INCONCLUSIVE


def test_tensor_cores_alone_are_no_promise() -> None:
    assert judge(pays, on(healthy_h100(), None)).status is Outcome.INCONCLUSIVE


def test_a_gpu_that_the_table_does_not_know_is_not_judged_by_its_compute_capability() -> None:
    assert judge(pays, on(a_gpu("NVIDIA Something New", "7.5"), None)).status is Outcome.INCONCLUSIVE


def test_a_laptop_gpu_outside_the_table_is_known_by_its_architecture() -> None:
    verdict = judge(pays, on(a_gpu("NVIDIA GeForce RTX 4070 Laptop GPU", "8.9"), None))
    assert "tensor cores yes" in verdict.reason


def test_a_lost_gpu_alone_leaves_nothing_to_judge() -> None:
    assert judge(pays, replace(without(PAYS, "cuda"), gpus=())).status is Outcome.SKIPPED
