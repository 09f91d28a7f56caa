"""GD811: the GPU's clocks were held down while this run trained.

What it does
    Counts the samples, one a second, in which NVML named heat, a hardware slowdown or a power brake while the steps ran. A
    board at its own power limit is not counted, nor is a GPU that no process of the run held.

Why it matters
    The longer a training runs, the warmer the board: the first minutes look well, and then every step is slower.

How to fix
    Clean fans and filters, make room for air, check the inlet temperature. Power brake: supply and cables. Watch it with
    nvidia-smi -q -d PERFORMANCE,TEMPERATURE -l 5 while it trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Finding,
    Fix,
    Gain,
    GpuOverTime,
    Grade,
    Limits,
    MachineOverTime,
    Missing,
    Settings,
    Severity,
    Threshold,
    Trial,
    check,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.recorded import percent, weigh_run

SURE = 0.9
OFTEN = Threshold(
    name="throttled_share",
    default=0.2,
    unit="",
    meaning="a GPU slowed in this share of the samples is told",
    source="policy: a fifth of the time; single samples come and go",
    most=1.0,
)


@check(
    code="GD811",
    slug="throttled-in-run",
    title="The GPU was slowed while it trained",
    family="hardware",
    cause="throttle",
    core=False,
    thresholds=(OFTEN,),
)
def slowed(
    machine: MachineOverTime, settings: Settings | None, limits: Limits, baseline: Trial | None
) -> Iterator[Finding]:
    """Judge each GPU that the run held by the share of its samples."""
    for gpu in machine.held(settings):
        if isinstance(gpu.throttled_share, Missing) or gpu.throttled_share < limits.of(OFTEN):
            continue
        weight = weigh_run(SURE, baseline)
        yield Finding(
            subject=f"GPU {gpu.index}",
            summary=f"GPU {gpu.index} was slowed in {gpu.throttled_share:.0%} of the run: {', '.join(gpu.throttle_reasons)}.",
            severity=Severity.WARNING,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=(
                *percent("slowed", gpu.throttled_share, "NVML"),
                *known("NVML", ("core clock", gpu.sm_mhz, "MHz"), ("at most", gpu.sm_max_mhz, "MHz")),
                *known("NVML", ("temperature", gpu.temperature_c, "C")),
            ),
            fixes=(
                Fix(
                    id=f"clocks-of-gpu-{gpu.index}",  # GD801 offers the same
                    title="Watch it, then see to cooling or power",
                    action="command",
                    text=f"nvidia-smi -i {gpu.index} -q -d PERFORMANCE,POWER -l 5",
                    gain=_gain(gpu),
                ),
            ),
            share=_lost(gpu),
        )


def _lost(gpu: GpuOverTime) -> float:
    if isinstance(gpu.sm_mhz, Missing) or isinstance(gpu.sm_max_mhz, Missing) or gpu.sm_max_mhz <= 0:
        return 0.0
    return max(0.0, 1 - gpu.sm_mhz / gpu.sm_max_mhz)


def _gain(gpu: GpuOverTime) -> Gain:
    lost = _lost(gpu)
    if not lost:
        return Gain(grade=Grade.UNPROVEN, basis="the clock at work is unknown")
    return Gain(grade=Grade.BOUND, speedup=round(1 / (1 - lost), 2), basis="highest core clock over the mean one")
