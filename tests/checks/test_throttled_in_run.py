"""GD811: clocks held down for much of the run are found; single samples are not."""

from __future__ import annotations

from gpudoctor.testing import judge
from gpudoctor_checks.hardware.throttled_in_run import slowed
from tests.checks.runs import case, make_gpu_over_time, make_machine_over_time, make_settings, ran


def gpu(share: float) -> dict[str, object]:
    hot = make_gpu_over_time(throttled_share=share, throttle_reasons=("SwThermalSlowdown",), sm_mhz=990.0)
    return {"machine": make_machine_over_time(hot)}


CASE = case("GD811", gpu(0.6), gpu(0.05), "machine")


def test_a_gpu_that_the_run_does_not_hold_is_not_its_trouble() -> None:
    hot = make_gpu_over_time(throttled_share=0.6, throttle_reasons=("SwThermalSlowdown",), own_processes=0)
    assert judge(slowed, ran(machine=make_machine_over_time(hot), settings=make_settings(gpus=0))).findings == ()
    used = make_gpu_over_time(index=1)
    assert judge(slowed, ran(machine=make_machine_over_time(hot, used), settings=make_settings(gpus=1))).findings == ()


def test_where_nvml_shows_no_process_of_ours_the_word_of_tensorflow_decides() -> None:
    hot = make_gpu_over_time(throttled_share=0.6, throttle_reasons=("SwThermalSlowdown",), own_processes=0)
    assert judge(slowed, ran(machine=make_machine_over_time(hot), settings=make_settings(gpus=1))).findings


def test_the_bound_comes_from_the_clocks() -> None:
    (finding,) = judge(slowed, CASE.fires).findings
    assert finding.fixes[0].gain.speedup == 2.0
