"""GD306: old copies of the bindings beside NVIDIA's own; the harmless shell of the same name."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.nvml_bindings import shadowed
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, on_cpu, with_packages, without

BOTH = with_packages(healthy_t4(), {"nvidia-ml-py": "13.590.44", "pynvml": "11.5.3"})
CASE = Case(
    check_code="GD306",
    fires=BOTH,
    near_miss=with_packages(BOTH, {"pynvml": "13.0.1"}),
    lacking=without(BOTH, "packages"),
    trial_variants=(None, on_cpu()),
)


def test_it_is_a_note_for_training_does_not_use_them() -> None:
    (finding,) = judge(shadowed, BOTH).findings
    assert finding.severity is Severity.INFO


def test_it_is_a_warning_where_nvml_could_not_be_asked_for_it() -> None:
    (finding,) = judge(shadowed, changed(BOTH, nvml={"status": "binding_broken"})).findings
    assert finding.severity is Severity.WARNING


def test_the_other_copy_writes_the_same_file() -> None:
    machine = with_packages(BOTH, {"pynvml": None, "nvidia-ml-py3": "7.352.0"})
    (finding,) = judge(shadowed, machine).findings
    assert finding.summary.startswith("nvidia-ml-py3 lies over")


@pytest.mark.parametrize("alone", [{"pynvml": "11.5.3", "nvidia-ml-py": None}, {"pynvml": None}])
def test_one_copy_alone_shadows_nothing(alone: dict[str, str | None]) -> None:
    assert judge(shadowed, with_packages(BOTH, alone)).status is Outcome.PASSED
