"""GD301: the probe's own steps are the fact; a GPU left alone on purpose proves nothing."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.observed import Probe
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.probe_on_cpu import on_cpu as check
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, with_trial
from tests.checks.trials import broken, on_cpu, trained

ON_CPU = with_trial(healthy_h100(), on_cpu(step_s=0.0051))
CASE = Case(
    check_code="GD301",
    fires=ON_CPU,
    near_miss=healthy_h100(),
    lacking=with_trial(ON_CPU, None),
    trial_variants=(None, trained()),
)


def test_the_pace_is_told() -> None:
    (finding,) = judge(check, ON_CPU).findings
    assert "5.1 ms/step" in finding.summary


def test_a_gpu_left_alone_proves_nothing() -> None:
    probe = ON_CPU.probe or Probe()
    machine = changed(ON_CPU, probe=replace(probe, gpu_left_alone="another process holds 71 of 80 GiB"))
    assert judge(check, machine).status is Outcome.INCONCLUSIVE


def test_a_crash_is_not_a_training_on_the_cpu() -> None:
    assert judge(check, with_trial(ON_CPU, broken())).status is Outcome.INCONCLUSIVE


def test_without_a_usable_gpu_the_cpu_is_the_right_place() -> None:
    assert judge(check, with_trial(no_gpu_machine(), on_cpu())).status is Outcome.PASSED
