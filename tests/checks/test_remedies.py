"""What is advised to install must work as pip installs it: never the release that does not find its own CUDA wheels."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge import tensorflow_releases
from gpudoctor.model.missing import Missing
from gpudoctor.model.software import TensorFlow
from gpudoctor.testing import judge
from gpudoctor_checks.remedies import advised_version, with_cuda
from gpudoctor_checks.said import AND_CUDA, NEWEST
from gpudoctor_checks.tensorflow.tensorflow_absent import absent
from tests.checks.machines import changed, healthy_h100, with_trial


def test_the_newest_release_is_passed_over_where_it_loses_its_wheels() -> None:
    assert not tensorflow_releases.finds_its_wheels(tensorflow_releases.NEWEST_STABLE)
    assert advised_version() == "2.20.0"


@pytest.mark.parametrize(
    ("python", "version"), [("3.13.1", "2.20.0"), ("3.12.4", "2.20.0"), ("3.9.19", "2.20.0"), ("3.8.20", "2.13.1")]
)
def test_a_release_with_a_wheel_for_this_python_is_advised(python: str, version: str) -> None:
    assert advised_version(python) == version


@pytest.mark.parametrize(
    ("version", "requirement"),
    [
        ("2.21.0", "'tensorflow[and-cuda]==2.20.0'"),
        ("2.16.1", "'tensorflow[and-cuda]==2.16.2'"),
        ("2.19.1", "'tensorflow[and-cuda]==2.19.1'"),
        ("2.10.1", "'tensorflow==2.10.1'"),
        ("2.40.0", "'tensorflow[and-cuda]==2.40.0'"),
    ],
)
def test_the_nearest_release_that_finds_its_wheels_is_installed(version: str, requirement: str) -> None:
    assert with_cuda(version, ()).words == requirement
    assert f"=={with_cuda(version, ()).release}'" in requirement


def test_the_release_that_is_written_out_is_the_one_that_is_chosen() -> None:
    assert advised_version() == NEWEST
    assert with_cuda(NEWEST, ()).words == AND_CUDA


@pytest.mark.parametrize("python", ["3.8.20", "3.11.9", "3.14.1"])
def test_an_absent_tensorflow_is_installed_by_version(python: str) -> None:
    none = TensorFlow(installed=False, version=Missing("not installed"))
    machine = with_trial(changed(healthy_h100(), tensorflow=none, python={"version": python}), None)
    (finding,) = judge(absent, machine).findings
    assert "==" in finding.fixes[1].text
