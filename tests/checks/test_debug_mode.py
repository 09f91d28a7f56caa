"""GD604: what only debugging wants is a warning, what may be chosen a note."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.compute.debug_mode import debugging
from tests.checks.case import Case
from tests.checks.machines import healthy_t4, on_cpu, with_env, without

BLOCKING = with_env(healthy_t4(), CUDA_LAUNCH_BLOCKING="1")
CASE = Case(
    check_code="GD604",
    fires=BLOCKING,
    near_miss=with_env(healthy_t4(), CUDA_LAUNCH_BLOCKING="0", TF_CPP_MIN_LOG_LEVEL="2"),
    lacking=without(BLOCKING, "env"),
    trial_variants=(None, on_cpu()),
)


@pytest.mark.parametrize(
    ("name", "value", "severity"),
    [
        ("CUDA_LAUNCH_BLOCKING", "1", Severity.WARNING),
        ("TF_CPP_MAX_VLOG_LEVEL", "3", Severity.WARNING),
        ("XLA_FLAGS", "--xla_dump_to=/tmp/x", Severity.WARNING),
        ("TF_DETERMINISTIC_OPS", "1", Severity.INFO),
        ("TF_CUDNN_DETERMINISTIC", "true", Severity.INFO),
        ("TF_CUDNN_USE_AUTOTUNE", "0", Severity.INFO),
        ("TF_ENABLE_ONEDNN_OPTS", "0", Severity.INFO),
        ("NVIDIA_TF32_OVERRIDE", "0", Severity.INFO),
    ],
)
def test_each_variable_is_named_with_the_way_to_unset_it(name: str, value: str, severity: Severity) -> None:
    (finding,) = judge(debugging, with_env(healthy_t4(), **{name: value})).findings
    assert (finding.severity, finding.fixes[0].text) == (severity, f"unset {name}")


def test_a_debugging_aid_and_a_choice_are_two_findings() -> None:
    machine = with_env(BLOCKING, TF_DETERMINISTIC_OPS="1", TF_CPP_MAX_VLOG_LEVEL="1")
    warning, note = judge(debugging, machine).findings
    assert (warning.severity, note.severity) == (Severity.WARNING, Severity.INFO)
    assert warning.fixes[0].text == "unset CUDA_LAUNCH_BLOCKING TF_CPP_MAX_VLOG_LEVEL"


@pytest.mark.parametrize("name", ["TF_CUDNN_USE_AUTOTUNE", "TF_ENABLE_ONEDNN_OPTS", "NVIDIA_TF32_OVERRIDE"])
def test_what_is_on_by_default_may_be_switched_on(name: str) -> None:
    assert judge(debugging, with_env(healthy_t4(), **{name: "1"})).status is Outcome.PASSED
