"""GD620: a GPU that TensorFlow did not have, or that stood idle, is found; one at work is not."""

from __future__ import annotations

from gpudoctor.testing import judge
from gpudoctor_checks.compute.not_on_gpu import elsewhere
from tests.checks.runs import case, make_gpu_over_time, make_machine_over_time, make_settings, make_steps, ran

IDLE = make_machine_over_time(make_gpu_over_time(busy_share=0.0, own_processes=0))
WORKS = make_machine_over_time(make_gpu_over_time())
CASE = case("GD620", {"machine": IDLE}, {"machine": WORKS, "settings": make_settings(gpus=1)}, "machine")


def test_a_gpu_that_tensorflow_has_and_leaves_idle_is_found() -> None:
    (finding,) = judge(elsewhere, ran(machine=IDLE, settings=make_settings(gpus=1))).findings
    assert "stood idle" in finding.summary


def test_a_starved_gpu_is_not_called_misplaced() -> None:
    machine = ran(machine=IDLE, settings=make_settings(gpus=1), steps=make_steps(waits=0.9, gpu=True))
    assert judge(elsewhere, machine).findings == ()


def test_a_machine_without_gpus_is_not_blamed() -> None:
    assert judge(elsewhere, ran()).findings == ()
