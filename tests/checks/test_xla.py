"""GD605: XLA is said to pay, or to cost, only where the whole interval says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.observed import Comparison, Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.compute.xla import pays
from tests.checks.case import Case
from tests.checks.machines import broken, healthy_h100, paired, refused, with_trial

FASTER = paired("jit", "on", "off", speedup=1.6)
EQUAL = paired("jit", "on", "off", speedup=1.0, half=0.01)


def a_machine(trial: Trial | None) -> Snapshot:
    return with_trial(healthy_h100(), trial, name="jit")


CASE = Case(
    check_code="GD605",
    fires=a_machine(FASTER),
    near_miss=a_machine(EQUAL),
    lacking=a_machine(None),
    trial="jit",
    trial_variants=(None, EQUAL),
)


def test_a_gain_is_for_steps_of_ones_own_since_keras_3_has_it_on() -> None:
    (finding,) = judge(pays, a_machine(FASTER)).findings
    assert finding.fixes[0].id == "xla-on"
    assert "Keras 3 on a GPU does it by itself" in finding.fixes[0].text


def test_where_it_is_slower_keras_is_told_to_leave_it() -> None:
    (finding,) = judge(pays, a_machine(paired("jit", "on", "off", speedup=0.8))).findings
    assert (finding.fixes[0].id, "slower" in finding.summary) == ("xla-off", True)


def test_a_wide_network_that_is_slower_outranks_a_small_one_that_is_faster() -> None:
    wide = Comparison(arm="wide_on", against="wide_off", pairs=7, speedup=0.9, low=0.88, high=0.92)
    trial = replace(FASTER, comparisons=(*FASTER.comparisons, wide))
    (finding,) = judge(pays, a_machine(trial)).findings
    assert finding.fixes[0].id == "xla-off"


@pytest.mark.parametrize(
    "trial",
    [
        paired("jit", "on", "off", speedup=1.2, half=0.3),
        replace(FASTER, device="CPU"),
        broken("jit"),
        refused("jit"),
        replace(FASTER, comparisons=()),
    ],
)
def test_what_cannot_answer_is_no_pass(trial: Trial) -> None:
    assert judge(pays, a_machine(trial)).status is Outcome.INCONCLUSIVE
