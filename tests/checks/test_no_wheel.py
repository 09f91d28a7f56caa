"""GD307: which Python, C library and processor have no wheel, and that an installed TensorFlow needs none."""

from __future__ import annotations

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.software import TensorFlow
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.no_wheel import none_fits
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, with_trial
from tests.checks.trials import broken, trained

NONE = TensorFlow(installed=False, version=Missing("not installed"))
ABSENT = with_trial(changed(healthy_h100(), tensorflow=NONE), None)
TOO_NEW = changed(ABSENT, python={"version": "3.14.1"})
CASE = Case(
    check_code="GD307",
    fires=TOO_NEW,
    near_miss=ABSENT,
    lacking=changed(TOO_NEW, python={"version": Missing("timeout")}),
    trial_variants=(broken(), trained()),
)


def test_a_python_that_fits_is_named_with_a_tensorflow_that_finds_its_wheels() -> None:
    (finding,) = judge(none_fits, TOO_NEW).findings
    assert finding.fixes[0].text.startswith("uv venv --python 3.12 ~/tf && ")
    assert finding.fixes[0].text.endswith("'tensorflow[and-cuda]==2.20.0'")


@pytest.mark.parametrize("version", ["3.8.20", "3.9.19", "3.10.14", "3.13.1"])
def test_each_python_for_which_some_release_has_a_wheel_passes(version: str) -> None:
    assert judge(none_fits, changed(ABSENT, python={"version": version})).status is Outcome.PASSED


def test_musl_has_none_whatever_the_python() -> None:
    (finding,) = judge(none_fits, changed(ABSENT, host={"libc": "musl"})).findings
    assert finding.fixes[0].id == "use-glibc-image"


def test_a_processor_without_wheels() -> None:
    (finding,) = judge(none_fits, changed(ABSENT, host={"arch": "ppc64le"})).findings
    assert "ppc64le" in finding.summary


def test_an_installed_tensorflow_needs_no_wheel() -> None:
    machine = changed(healthy_h100(), python={"version": "3.14.1"})
    assert judge(none_fits, machine).status is Outcome.PASSED
