"""GD811: clocks held down for much of the run are found; single samples are not."""

from __future__ import annotations

from gpudoctor.testing import judge
from gpudoctor_checks.hardware.throttled_in_run import slowed
from tests.checks.runs import case, make_gpu_over_time, make_machine_over_time


def gpu(share: float) -> dict[str, object]:
    hot = make_gpu_over_time(throttled_share=share, throttle_reasons=("SwThermalSlowdown",), sm_mhz=990.0)
    return {"machine": make_machine_over_time(hot)}


CASE = case("GD811", gpu(0.6), gpu(0.05), "machine")


def test_the_bound_comes_from_the_clocks() -> None:
    (finding,) = judge(slowed, CASE.fires).findings
    assert finding.fixes[0].gain.speedup == 2.0
