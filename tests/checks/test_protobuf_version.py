"""GD309: a protobuf that is older or newer than this TensorFlow asks for."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.protobuf_version import misfit
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_packages, with_trial
from tests.checks.trials import broken, trained

OLD = with_trial(with_packages(healthy_t4(), {"protobuf": "4.25.3"}), None)
CASE = Case(
    check_code="GD309",
    fires=OLD,
    near_miss=with_packages(OLD, {"protobuf": "5.29.5"}),
    lacking=with_packages(OLD, {"protobuf": None}),
    trial_variants=(broken(), trained()),
)


@pytest.mark.parametrize(
    ("tensorflow", "protobuf", "severity", "command"),
    [
        ("2.20.0", "4.25.3", Severity.ERROR, "pip install 'protobuf>=5.28.0'"),
        ("2.21.0", "5.29.5", Severity.ERROR, "pip install 'protobuf<8.0.0,>=6.31.1'"),
        ("2.19.1", "6.33.0", Severity.INFO, "pip install 'protobuf<6.0.0dev,>=3.20.3'"),
        ("2.10.1", "4.25.3", Severity.ERROR, ""),
        ("2.9.3", "4.25.3", Severity.ERROR, "pip install 'protobuf<3.20,>=3.9.2'"),
    ],
)
def test_the_direction_and_the_generation_decide(
    tensorflow: str, protobuf: str, severity: Severity, command: str
) -> None:
    machine = with_packages(changed(OLD, tensorflow={"version": tensorflow}), {"protobuf": protobuf})
    (finding,) = judge(misfit, machine).findings
    assert finding.severity is severity
    assert finding.fixes[0].text == command or not command


def test_other_builds_are_made_against_their_own_protobuf() -> None:
    assert judge(misfit, changed(OLD, tensorflow={"origin": "ngc"})).status is Outcome.PASSED
