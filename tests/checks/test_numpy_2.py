"""GD308: NumPy 2 beside releases that were built for NumPy 1, and beside those that were not."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.numpy_2 import too_new
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_packages, with_trial
from tests.checks.trials import broken, on_cpu, trained

OLD = with_trial(changed(healthy_t4(), tensorflow={"version": "2.16.2"}), None)
CASE = Case(
    check_code="GD308",
    fires=with_packages(OLD, {"numpy": "2.3.4"}),
    near_miss=with_packages(OLD, {"numpy": "1.26.4"}),
    lacking=with_packages(OLD, {"numpy": None}),
    trial_variants=(broken(), trained()),
)


def test_it_is_an_error_with_the_numpy_that_is_asked_for() -> None:
    (finding,) = judge(too_new, CASE.fires).findings
    assert finding.severity is Severity.ERROR
    assert (finding.fixes[0].id, finding.fixes[0].text) == ("pin-numpy", "pip install 'numpy<2.0.0,>=1.23.5'")


def test_an_import_that_failed_confirms_it_and_any_training_refutes_it() -> None:
    failed = changed(CASE.fires, tensorflow={"import_error": "AttributeError: _ARRAY_API not found"})
    (confirmed,) = judge(too_new, failed).findings
    (refuted,) = judge(too_new, with_trial(CASE.fires, on_cpu())).findings
    assert confirmed.confidence > 0.95
    assert refuted.confidence < 0.3


@pytest.mark.parametrize("version", ["2.18.1", "2.19.1", "2.20.0", "2.21.0"])
def test_releases_from_2_18_on_take_numpy_2(version: str) -> None:
    assert judge(too_new, changed(CASE.fires, tensorflow={"version": version})).status is Outcome.PASSED


def test_a_release_without_a_bound_of_its_own_still_gets_numpy_1() -> None:
    (finding,) = judge(too_new, changed(CASE.fires, tensorflow={"version": "2.10.1"})).findings
    assert finding.fixes[0].text == "pip install 'numpy<2'"


def test_other_builds_are_made_against_their_own_numpy() -> None:
    assert judge(too_new, changed(CASE.fires, tensorflow={"origin": "conda"})).status is Outcome.PASSED


def test_a_release_that_is_not_in_the_table_is_not_judged() -> None:
    assert judge(too_new, changed(CASE.fires, tensorflow={"version": "2.40.0"})).status is Outcome.INCONCLUSIVE
