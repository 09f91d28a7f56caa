"""GD305: TensorFlow in another environment, an environment without Python, and packages from outside."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.software import TensorFlow
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.wrong_interpreter import other
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, with_env, with_trial
from tests.checks.trials import broken, trained

NONE = TensorFlow(installed=False, version=Missing("not installed"))
ELSEWHERE = with_trial(
    changed(healthy_h100(), tensorflow=NONE, python={"elsewhere": ("~/tf env/bin/python", "~/old/bin/python")}), None
)
CASE = Case(
    check_code="GD305",
    fires=ELSEWHERE,
    near_miss=changed(ELSEWHERE, python={"elsewhere": ()}),
    lacking=changed(ELSEWHERE, python={"elsewhere": Missing("timeout")}),
    trial_variants=(broken(status="crashed"), trained()),
)


def test_the_environment_that_has_it_is_named_so_that_a_shell_reads_it() -> None:
    (finding,) = judge(other, ELSEWHERE).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == "gpudoctor scan --python ~/'tf env/bin/python'"


def test_an_active_environment_without_a_python_is_named() -> None:
    machine = with_env(
        changed(healthy_h100(), python={"chosen_by": "first on PATH with TensorFlow", "prefix": "/usr"}),
        VIRTUAL_ENV="~/gone",
    )
    (finding,) = judge(other, machine).findings
    assert (finding.severity, finding.fixes[0].text) == (Severity.WARNING, "deactivate; ls ~/gone")


@pytest.mark.parametrize("chosen_by", ["VIRTUAL_ENV", "--python"])
def test_what_was_active_or_asked_for_is_right(chosen_by: str) -> None:
    machine = with_env(changed(healthy_h100(), python={"chosen_by": chosen_by}), VIRTUAL_ENV="~/other")
    assert judge(other, machine).status is Outcome.PASSED


@pytest.mark.parametrize(
    ("path", "variables"),
    [
        ("~/.local/lib/python3.11/site-packages/tensorflow", {}),
        ("/opt/shared/tensorflow", {"PYTHONPATH": "/home/x:/opt/shared/"}),
    ],
)
def test_packages_from_outside_are_found(path: str, variables: dict[str, str]) -> None:
    machine = with_env(changed(healthy_h100(), tensorflow={"path": path}), **variables)
    (finding,) = judge(other, machine).findings
    assert finding.fixes[0].id == "drop-python-overlay"


def test_a_venv_that_shares_the_systems_packages_is_no_mistake() -> None:
    machine = changed(healthy_h100(), tensorflow={"path": "/usr/lib/python3/dist-packages/tensorflow"})
    assert judge(other, machine).status is Outcome.PASSED


def test_a_notebook_is_given_the_kernel_of_the_environment_that_has_it() -> None:
    (finding,) = judge(other, changed(ELSEWHERE, python={"chosen_by": "notebook kernel (pid 77)"})).findings
    assert "the notebook's kernel" in finding.summary
    assert [fix.id for fix in finding.fixes] == ["register-notebook-kernel", "point-at-python"]


def test_a_notebook_whose_kernel_has_tensorflow_is_right_wherever_jupyter_was_started() -> None:
    machine = with_env(
        changed(healthy_h100(), python={"chosen_by": "notebook kernel (pid 77)"}), VIRTUAL_ENV="~/jupyter"
    )
    assert judge(other, machine).status is Outcome.PASSED
