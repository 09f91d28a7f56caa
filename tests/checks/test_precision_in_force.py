"""GD616: mixed precision without tensor cores is found; with them it is a note where it is off."""

from __future__ import annotations

from gpudoctor.testing import judge
from gpudoctor_checks.compute.precision_in_force import precision
from tests.checks.runs import case, make_gpu_over_time, make_machine_over_time, make_settings, make_steps, ran

MIXED = make_settings(dtype_policy="mixed_float16", loss_scale=True)
CASE = case("GD616", {"settings": MIXED}, {"settings": make_settings()}, "settings")


def test_a_gpu_without_tensor_cores_gains_nothing() -> None:
    machine = make_machine_over_time(make_gpu_over_time(name="NVIDIA GeForce GTX 1660 Ti"))
    settings = make_settings(gpus=1, dtype_policy="mixed_float16")
    (finding,) = judge(precision, ran(settings=settings, machine=machine)).findings
    assert finding.cause == "mixed-precision-no-gain"


def test_a_gpu_with_tensor_cores_is_fine_with_it() -> None:
    machine = make_machine_over_time(make_gpu_over_time())
    settings = make_settings(gpus=1, dtype_policy="mixed_float16")
    assert judge(precision, ran(settings=settings, machine=machine)).findings == ()


def test_float32_on_busy_tensor_cores_is_a_note_and_on_a_starved_gpu_nothing() -> None:
    machine = make_machine_over_time(make_gpu_over_time())
    busy = ran(settings=make_settings(gpus=1), machine=machine, steps=make_steps(gpu=True))
    starved = ran(settings=make_settings(gpus=1), machine=machine, steps=make_steps(waits=0.7, gpu=True))
    assert [each.severity.value for each in judge(precision, busy).findings] == ["info"]
    assert judge(precision, starved).findings == ()
