"""GD209: a missing wheel is a suspicion, XLA's own complaint a proof."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.xla_tools import missing
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_env, with_packages, with_trial, without
from tests.checks.trials import broken, trained

WHEEL = "nvidia-cuda-nvcc-cu12"
BARE = with_trial(
    with_packages(healthy_t4(), {WHEEL: None}), broken(reason="INTERNAL: libdevice not found at ./libdevice.10.bc")
)
CASE = Case(
    check_code="GD209",
    fires=BARE,
    near_miss=healthy_t4(),
    lacking=without(BARE, "packages"),
    trial_variants=(None, trained()),
)


def test_xlas_own_complaint_is_an_error() -> None:
    (finding,) = judge(missing, BARE).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == "pip install 'nvidia-cuda-nvcc-cu12'"


def test_without_the_wheel_alone_it_is_a_suspicion_that_a_training_weakens() -> None:
    (suspected,) = judge(missing, with_trial(BARE, None)).findings
    (trained_all_the_same,) = judge(missing, with_trial(BARE, trained())).findings
    assert suspected.severity is Severity.WARNING
    assert trained_all_the_same.confidence < suspected.confidence


def test_a_release_that_pins_the_wheel_gets_its_own_version() -> None:
    old = changed(with_trial(BARE, None), tensorflow={"version": "2.19.1"})
    (finding,) = judge(missing, old).findings
    assert finding.fixes[0].text == "pip install 'nvidia-cuda-nvcc-cu12==12.5.82'"


@pytest.mark.parametrize("version", ["2.14.1", "2.15.1"])
def test_before_keras_3_nothing_asks_for_xla_by_itself(version: str) -> None:
    machine = changed(with_trial(BARE, None), tensorflow={"version": version})
    assert judge(missing, machine).status is Outcome.PASSED


def test_a_toolkit_named_in_xla_flags_is_enough() -> None:
    machine = with_env(with_trial(BARE, None), XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda")
    assert judge(missing, machine).status is Outcome.PASSED


@pytest.mark.parametrize("origin", ["ngc", "conda", "source"])
def test_other_builds_bring_their_own_tools(origin: str) -> None:
    assert judge(missing, changed(BARE, tensorflow={"origin": origin})).status is Outcome.PASSED


def test_beside_a_cuda_of_the_system_a_missing_wheel_is_a_note() -> None:
    machine = with_trial(BARE, None)
    system = tuple(replace(each, origin="system") for each in machine.libraries or ())
    (finding,) = judge(missing, replace(machine, libraries=system)).findings
    assert finding.severity is Severity.INFO
