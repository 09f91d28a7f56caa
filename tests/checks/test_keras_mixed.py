"""GD310: which Keras stands beside which TensorFlow, and what the variables ask for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.keras_mixed import mixed
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_env, with_packages, with_trial, without
from tests.checks.trials import broken, trained

START = with_trial(healthy_t4(), None)
LEGACY = with_env(START, TF_USE_LEGACY_KERAS="1")
CASE = Case(
    check_code="GD310",
    fires=LEGACY,
    near_miss=with_packages(LEGACY, {"tf-keras": "2.20.1"}),
    lacking=without(START, "env"),
    trial_variants=(broken(), trained()),
)


def the_machine(version: str, packages: Mapping[str, str | None], **variables: str) -> Snapshot:
    return with_env(with_packages(changed(START, tensorflow={"version": version}), packages), **variables)


@pytest.mark.parametrize(
    ("machine", "severity", "command"),
    [
        (LEGACY, Severity.ERROR, "pip install 'tf-keras~=2.20.0'"),
        (the_machine("2.17.1", {"keras": "2.15.0"}), Severity.ERROR, "pip install 'keras>=3.2.0'"),
        (the_machine("2.15.1", {"keras": "3.3.3"}), Severity.INFO, "pip install 'keras<2.16,>=2.15.0'"),
        (the_machine("2.14.1", {"keras": "3.3.3"}), Severity.ERROR, "pip install 'keras<2.15,>=2.14.0'"),
        (
            the_machine("2.20.0", {"tf-keras": "2.16.0"}, TF_USE_LEGACY_KERAS="true"),
            Severity.WARNING,
            "pip install 'tf-keras~=2.20.0'",
        ),
        (the_machine("2.20.0", {}, KERAS_BACKEND="jax"), Severity.WARNING, "export KERAS_BACKEND=tensorflow"),
    ],
)
def test_each_mixture_has_its_cure(machine: Snapshot, severity: Severity, command: str) -> None:
    (finding,) = judge(mixed, machine).findings
    assert (finding.severity, finding.fixes[0].text) == (severity, command)


@pytest.mark.parametrize(
    "machine",
    [
        the_machine("2.15.1", {"keras": "2.15.0"}, TF_USE_LEGACY_KERAS="1"),
        the_machine("2.20.0", {"tf-keras": "2.19.0"}),
        the_machine("2.20.0", {}, TF_USE_LEGACY_KERAS="0", KERAS_BACKEND="tensorflow"),
    ],
)
def test_what_fits_or_is_not_used_passes(machine: Snapshot) -> None:
    assert judge(mixed, machine).status is Outcome.PASSED


def test_a_training_with_tensorflow_does_not_refute_another_backend() -> None:
    machine = with_trial(the_machine("2.20.0", {}, KERAS_BACKEND="torch"), trained())
    (finding,) = judge(mixed, machine).findings
    assert finding.confidence > 0.9
