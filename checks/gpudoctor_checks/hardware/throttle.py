"""GD801: the GPU lowers its clocks because of heat, power or its power supply.

What it does
    Reads NVML's clock-event reasons, clocks, temperature and power limits. Not throttling: an idle GPU, clocks that
    somebody set, and a board that works at its own power limit, as a T4, an L4 or a laptop does at full load.

Why it matters
    A hardware slowdown cuts the core clock to a half or less, and training with it. Heat costs less, for as long as it
    lasts. A power limit set below the board's own caps every kernel. Nothing in a training log shows any of them.

How to fix
    Heat: clean fans and filters, make room for air, check the inlet temperature and the neighbours of the board.
    Power brake: power supply, its cables, or the power budget of the chassis.
    Lowered power limit: `sudo nvidia-smi -i N -pl WATTS` restores it; on a shared machine ask who lowered it, and why.
    One reading is an instant: watch it under load with the command below before you open the machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Finding,
    Gpu,
    Gpus,
    Limits,
    Missing,
    Severity,
    Skip,
    Trial,
    Weight,
    check,
    clock_events,
    either,
    weigh_faulty,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.hardware.clock_cures import cures, slowed
from gpudoctor_checks.hardware.clock_limits import CUT, LOWERED

NAMED = 0.8  # one reading, but the reason names heat or power
UNNAMED = 0.6  # HwSlowdown alone may also be a change of performance state (nvml.h)
FELL = BROKEN - {"oom"}  # running out of memory says nothing about heat or power


@check(
    code="GD801",
    slug="throttle",
    title="The GPU lowers its clocks",
    family="hardware",
    cause="throttle",
    thresholds=(CUT, LOWERED),
)
def throttled(gpus: Gpus, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the clock-event reasons of each GPU."""
    unknown = [f"GPU {gpu.index}: {why}" for gpu in gpus if (why := _unknown(gpu))]
    findings = [each for gpu in gpus if (each := _judge(gpu, limits, baseline)) is not None]
    yield from findings
    if not findings and (unknown or not len(gpus)):
        raise Skip("; ".join(unknown) or "NVML lists no GPU")


def _unknown(gpu: Gpu) -> str:
    if isinstance(gpu.throttle_reasons, Missing):
        return f"clock-event reasons unknown ({gpu.throttle_reasons.reason})"
    strange = [name for name in gpu.throttle_reasons if clock_events.severity(name) is None]
    if strange:
        return f"{', '.join(strange)}: a reason that this gpudoctor does not know"
    open_limits = isinstance(gpu.power.limit_w, Missing) or isinstance(gpu.power.default_limit_w, Missing)
    capped = "SwPowerCap" in gpu.throttle_reasons
    return "at its power limit; whether somebody lowered it is unknown" if capped and open_limits else ""


def _judge(gpu: Gpu, limits: Limits, baseline: Trial | None) -> Finding | None:
    reasons = either(gpu.throttle_reasons, ())
    hardware = [name for name in reasons if clock_events.severity(name) == "critical"]
    heat = [name for name in reasons if clock_events.severity(name) == "thermal"]
    state = f"{either(gpu.clocks.sm_mhz, '?')} of {either(gpu.clocks.sm_max_mhz, '?')} MHz, {either(gpu.temperature_c, '?')} C"
    limit, default = either(gpu.power.limit_w, 0.0), either(gpu.power.default_limit_w, 0.0)
    if hardware:
        static = UNNAMED if hardware == ["HwSlowdown"] else NAMED
        return _finding(gpu, f"hardware slowdown, {state}", _gravity(gpu, limits, baseline), static, baseline)
    if heat:
        return _finding(gpu, f"slowed by heat, {state}", Severity.WARNING, NAMED, baseline)
    if _too_hot(gpu):
        words = f"at {gpu.temperature_c} C, its slowdown begins at {gpu.temperature_slowdown_c} C"
        return _finding(gpu, words, Severity.WARNING, NAMED, baseline)
    if limit and default - limit > limits.of(LOWERED):
        active = "SwPowerCap" in reasons
        words = f"software power cap, {limit:.0f} of {default:.0f} W{'' if active else ' (not reached now)'}"
        return _finding(gpu, words, Severity.WARNING if active else Severity.INFO, NAMED, baseline, restore_w=default)
    return None


def _gravity(gpu: Gpu, limits: Limits, baseline: Trial | None) -> Severity:
    """Call a GPU that protects itself broken, unless the probe trains on it all the same: then it is slow."""
    trained = baseline is not None and baseline.status == "ok" and baseline.device == "GPU"
    return Severity.ERROR if _fell(baseline) or (slowed(gpu) >= limits.of(CUT) and not trained) else Severity.WARNING


def _too_hot(gpu: Gpu) -> bool:
    """Compare with NVML's own threshold: the reasons are those of one moment, and heat outlasts it."""
    return either(gpu.temperature_c, 0) >= either(gpu.temperature_slowdown_c, 0) > 0


def _fell(baseline: Trial | None) -> bool:
    return baseline is not None and baseline.status in FELL


def _finding(
    gpu: Gpu, words: str, severity: Severity, static: float, baseline: Trial | None, *, restore_w: float = 0
) -> Finding:
    alone = Weight(confidence=static, basis="one reading of NVML")
    weight = weigh_faulty(static, baseline) if _fell(baseline) else alone
    return Finding(
        subject=f"GPU {gpu.index}",
        summary=f"GPU {gpu.index}: {words}.",
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=known(
            "NVML",
            ("reasons", ", ".join(either(gpu.throttle_reasons, ())), ""),
            ("core clock", gpu.clocks.sm_mhz, "MHz"),
            ("at most", gpu.clocks.sm_max_mhz, "MHz"),
            ("temperature", gpu.temperature_c, "C"),
            ("power draw", gpu.power.draw_w, "W"),
            ("power limit", gpu.power.limit_w, "W"),
        ),
        fixes=cures(gpu, restore_w),
    )
