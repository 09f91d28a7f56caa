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
from tests.checks.machines import changed, healthy_h100, with_trial, without
from tests.checks.trials import on_cpu, trained

NONE = TensorFlow(installed=False, version=Missing("not installed"))
ABSENT = with_trial(changed(healthy_h100(), tensorflow=NONE), None)
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
