"""GD311: what TensorFlow asks for and does not get."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.dependencies import misfits
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_packages, with_trial
from tests.checks.trials import broken, on_cpu, trained

ASKED = ("absl-py >=1.0.0", "google-pasta >=0.1.1", "ml-dtypes <1.0.0,>=0.5.1", "numpy >=1.26.0", "wrapt >=1.11.0")
HERE = {"absl-py": "2.3.1", "google-pasta": "0.2.0", "ml-dtypes": "0.5.4", "numpy": "2.3.4", "wrapt": "2.0.1"}
SOUND = with_packages(with_trial(changed(healthy_t4(), tensorflow={"requires": ASKED}), None), HERE)
CASE = Case(
    check_code="GD311",
    fires=with_packages(SOUND, {"ml-dtypes": "0.4.1"}),
    near_miss=with_packages(SOUND, {"ml-dtypes": "0.5.1"}),
    lacking=changed(with_packages(SOUND, {"ml-dtypes": "0.4.1"}), tensorflow={"requires": Missing("no metadata")}),
    trial_variants=(broken(), trained()),
)


def test_an_older_package_is_a_suspicion_that_a_failed_import_makes_an_error_and_a_training_refutes() -> None:
    (suspected,) = judge(misfits, CASE.fires).findings
    assert suspected.severity is Severity.WARNING
    assert suspected.fixes[0].text == "pip install 'ml-dtypes<1.0.0,>=0.5.1'"
    failed = changed(CASE.fires, tensorflow={"import_error": "AttributeError: float4_e2m1fn"})
    (confirmed,) = judge(misfits, failed).findings
    assert (confirmed.severity, confirmed.confidence > 0.9) == (Severity.ERROR, True)
    (refuted,) = judge(misfits, with_trial(CASE.fires, on_cpu())).findings
    assert refuted.confidence < 0.3


def test_a_missing_package_that_the_import_needs_is_an_error() -> None:
    (finding,) = judge(misfits, with_packages(SOUND, {"absl-py": None})).findings
    assert (finding.severity, finding.confidence) == (Severity.ERROR, 0.95)
    assert "absl-py, which is not installed" in finding.summary


def test_one_that_the_import_does_without_is_a_note() -> None:
    (finding,) = judge(misfits, with_packages(SOUND, {"google-pasta": None})).findings
    assert finding.severity is Severity.INFO


def test_an_installation_without_its_dependencies_is_finished_by_one_command() -> None:
    names = ("absl-py", "astunparse", "gast", "six", "termcolor")
    bare = changed(SOUND, tensorflow={"requires": names})
    machine = with_packages(bare, dict.fromkeys(names))
    (finding,) = judge(misfits, machine).findings
    assert finding.summary == "5 packages that TensorFlow needs are not installed."
    assert finding.fixes[0].text == f"pip install 'tensorflow=={machine.tensorflow.version}'"  # type: ignore[union-attr]


@pytest.mark.parametrize("packages", [{"ml-dtypes": "1.2.0"}, {"numpy": "1.20.0"}, {"wrapt": "unknown"}])
def test_newer_ones_strange_ones_and_those_of_other_checks_are_left_alone(packages: dict[str, str | None]) -> None:
    assert judge(misfits, with_packages(SOUND, packages)).status is Outcome.PASSED


def test_what_keras_3_alone_needs_is_asked_of_keras_3_alone() -> None:
    lacking = with_packages(changed(SOUND, tensorflow={"requires": ("optree",)}), {"optree": None})
    (third,) = judge(misfits, changed(lacking, tensorflow={"keras_version": "3.12.0"})).findings
    (second,) = judge(misfits, changed(lacking, tensorflow={"keras_version": "2.15.0"})).findings
    assert (third.severity, second.severity) == (Severity.ERROR, Severity.INFO)


def test_a_strangers_requirement_cannot_write_the_command() -> None:
    hostile = changed(SOUND, tensorflow={"requires": ("wrapt >=9;$(id)'`x`",)})
    assert all("$" not in each.fixes[0].text for each in judge(misfits, hostile).findings)
    missing = changed(SOUND, tensorflow={"requires": ("six' ; id ; ' >=1",)})
    (finding,) = judge(misfits, missing).findings
    assert finding.fixes[0].text.count("'") == 2
