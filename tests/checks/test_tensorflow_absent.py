"""GD303: not installed, or installed and not importable."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.software import TensorFlow
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.tensorflow_absent import absent
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_packages, with_trial, without
from tests.checks.trials import on_cpu, trained

NONE = TensorFlow(installed=False, version=Missing("not installed"))
ABSENT = with_packages(with_trial(changed(healthy_h100(), tensorflow=NONE), None), {"tensorflow": None})
CASE = Case(
    check_code="GD303",
    fires=ABSENT,
    near_miss=healthy_h100(),
    lacking=without(ABSENT, "tensorflow"),
    trial_variants=(trained(), on_cpu()),
)


def test_the_first_advice_is_to_look_in_the_right_environment() -> None:
    (finding,) = judge(absent, ABSENT).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == "gpudoctor scan --python /path/to/python"


def test_without_a_gpu_it_breaks_nothing_that_a_gpu_could_do() -> None:
    (finding,) = judge(absent, with_trial(changed(no_gpu_machine(), tensorflow=NONE), None)).findings
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("error", "cause", "fix"),
    [
        (
            "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.0 as it may crash.",
            "numpy2",
            "pip install 'numpy<2'",
        ),
        ("AttributeError: _ARRAY_API not found", "numpy2", "pip install 'numpy<2'"),
        ("TypeError: Descriptors cannot be created directly.", "protobuf", "pip install 'protobuf<3.21'"),
        ("ImportError: libfoo.so: cannot open shared object file", "tensorflow-absent", "pip check"),
    ],
)
def test_the_import_says_why(error: str, cause: str, fix: str) -> None:
    machine = with_trial(changed(healthy_h100(), tensorflow={"import_error": error}), None)
    (finding,) = judge(absent, machine).findings
    assert (finding.cause, finding.fixes[0].text) == (cause, fix)


def test_where_no_other_environment_has_it_installing_comes_first() -> None:
    (finding,) = judge(absent, changed(ABSENT, python={"elsewhere": ()})).findings
    assert [each.id for each in finding.fixes] == ["install-tensorflow", "point-at-python"]


def test_a_distribution_whose_files_are_gone_gets_them_back() -> None:
    (finding,) = judge(absent, with_packages(ABSENT, {"tensorflow": "2.19.1"})).findings
    assert finding.summary == "tensorflow 2.19.1 is registered here, but its files are gone."
    assert finding.fixes[0].text == "pip install --force-reinstall --no-deps 'tensorflow==2.19.1'"


def test_remains_of_an_uninstall_are_no_installation() -> None:
    (finding,) = judge(absent, changed(ABSENT, tensorflow={"remains": "/v/site-packages/tensorflow"})).findings
    assert "only remains" in finding.summary
    assert finding.fixes[0].text.startswith("rm -r /v/site-packages/tensorflow && pip install 'tensorflow")


def test_where_there_is_no_gpu_the_gigabytes_of_cuda_are_left_out() -> None:
    (finding,) = judge(absent, with_trial(changed(no_gpu_machine(), tensorflow=NONE), None)).findings
    assert any(each.text == "pip install 'tensorflow==2.20.0'" for each in finding.fixes)


def test_a_numpy_in_pieces_is_put_back_in_its_own_version() -> None:
    error = "ImportError: Error importing numpy: you should not try to import numpy from\nits source directory"
    machine = with_trial(changed(healthy_h100(), tensorflow={"import_error": error}), None)
    (finding,) = judge(absent, with_packages(machine, {"numpy": "2.1.3"})).findings
    assert finding.cause == "dependency-misfit"
    assert finding.fixes[0].text == "pip install --force-reinstall --no-deps 'numpy==2.1.3'"


@pytest.mark.parametrize(
    "path",
    ["/", "~/", "/home/me", "~/x/../tensorflow", "/site-packages/../site-packages/tensorflow", "$(id)/site-packages"],
)
def test_no_snapshot_can_have_another_folder_removed(path: str) -> None:
    (finding,) = judge(absent, changed(ABSENT, tensorflow={"remains": path})).findings
    assert "rm " not in " ".join(each.text for each in finding.fixes)


def test_a_version_cannot_write_the_command() -> None:
    hostile = with_packages(ABSENT, {"tensorflow": "2.19.1'; rm -r ~; '"})
    (finding,) = judge(absent, hostile).findings
    assert finding.fixes[0].text == "pip install --force-reinstall --no-deps 'tensorflow==2.19.1rm-r~'"
