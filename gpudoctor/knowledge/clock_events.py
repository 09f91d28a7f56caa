"""NVML's clock-event (throttle) reasons, bit by bit: what lowered the clocks and whether that is a fault.

Idle clocks and clocks that somebody set are no throttling, hence `severity`; treating every bit as a fault would be
tempting and cries wolf on each idle GPU. Facts of 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge.row import Row

ClockSeverity = Literal["ok", "idle", "config", "power", "thermal", "critical"]

_NVML_H = "NVIDIA/go-nvml gen/nvml/nvml.h; nvidia-ml-py 13.615.71 pynvml.py"
_PYNVML_ONLY = "nvidia-ml-py 13.615.71 pynvml.py only (not in the nvml.h read)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClockEvent(Row):
    """One bit of the mask. `name` is NVML's, without its prefix; `bit` is the value of the bit, not its position."""

    bit: int
    name: str
    constant: str
    severity: ClockSeverity
    meaning: str
    advice: str
    source: str = _NVML_H


CLOCK_EVENTS: tuple[ClockEvent, ...] = (
    ClockEvent(
        bit=0,
        name="None",
        constant="nvmlClocksEventReasonNone",
        severity="ok",
        meaning="Clocks are as high as possible.",
        advice="No throttling.",
    ),
    ClockEvent(
        bit=1,
        name="GpuIdle",
        constant="nvmlClocksEventReasonGpuIdle",
        severity="idle",
        meaning="Nothing is running on the GPU and the clocks are dropping to idle.",
        advice="The GPU had no work at that instant. Seen often DURING training = the GPU waits for the input pipeline or the host. May be removed by NVIDIA in a later release.",
    ),
    ClockEvent(
        bit=2,
        name="ApplicationsClocksSetting",
        constant="nvmlClocksEventReasonApplicationsClocksSetting",
        severity="config",
        meaning="Clocks limited by the applications-clocks setting (header: deprecated, no longer used). Older alias: UserDefinedClocks.",
        advice="Somebody set application clocks (nvidia-smi -ac) or the default application clock is below the maximum. nvidia-smi -rac resets.",
    ),
    ClockEvent(
        bit=4,
        name="SwPowerCap",
        constant="nvmlClocksEventReasonSwPowerCap",
        severity="power",
        meaning="Clocks optimised so as not to exceed the current power limit.",
        advice="Normal at full load on power-limited boards (T4, L4, laptops, MIG). A problem only if the enforced limit is below the default: nvidia-smi -q -d POWER.",
    ),
    ClockEvent(
        bit=8,
        name="HwSlowdown",
        constant="nvmlClocksThrottleReasonHwSlowdown",
        severity="critical",
        meaning="Hardware slowdown: core clocks cut by 2x or more. Temperature too high, external power brake, or fast-trigger over-power; may also appear during a P-state change.",
        advice="Serious if it persists. Look at 0x40 and 0x80 for which one.",
    ),
    ClockEvent(
        bit=16,
        name="SyncBoost",
        constant="nvmlClocksEventReasonSyncBoost",
        severity="config",
        meaning="GPU is in a sync-boost group and boosts only to the minimum of the group.",
        advice="Another GPU in the group is the one that is limited; look there.",
    ),
    ClockEvent(
        bit=32,
        name="SwThermalSlowdown",
        constant="nvmlClocksEventReasonSwThermalSlowdown",
        severity="thermal",
        meaning="Clocks reduced so that GPU temperature stays below GPU max operating temperature and memory temperature below memory max.",
        advice="Improve cooling; check fans, dust, neighbours, inlet temperature. Memory temperature counts too.",
    ),
    ClockEvent(
        bit=64,
        name="HwThermalSlowdown",
        constant="nvmlClocksThrottleReasonHwThermalSlowdown",
        severity="critical",
        meaning="Hardware thermal slowdown: core clocks cut by 2x or more because of temperature.",
        advice="Cooling failure. Throughput may halve.",
    ),
    ClockEvent(
        bit=128,
        name="HwPowerBrakeSlowdown",
        constant="nvmlClocksThrottleReasonHwPowerBrakeSlowdown",
        severity="critical",
        meaning="External power-brake assertion (for example by the system power supply); clocks cut by 2x or more.",
        advice="Power supply, power cabling or chassis power budget.",
    ),
    ClockEvent(
        bit=256,
        name="DisplayClockSetting",
        constant="nvmlClocksEventReasonDisplayClockSetting",
        severity="config",
        meaning="Clocks limited by the display clock setting.",
        advice="Rare on headless machines.",
    ),
    ClockEvent(
        bit=512,
        name="BoardLimit",
        constant="nvmlClocksThrottleReasonBoardLimit",
        severity="power",
        meaning="Board limit (name only in the deprecated ThrottleReason list of newer bindings; no doc text).",
        advice="Board-level electrical limit.",
        source=_PYNVML_ONLY,
    ),
    ClockEvent(
        bit=1024,
        name="Reliability",
        constant="nvmlClocksThrottleReasonReliability",
        severity="power",
        meaning="Reliability voltage/clock limit (name only in the deprecated ThrottleReason list of newer bindings; no doc text).",
        advice="Normal at top clocks.",
        source=_PYNVML_ONLY,
    ),
)
_BY_NAME = {event.name: event for event in CLOCK_EVENTS}


def decode(mask: int) -> tuple[str, ...]:
    """Return the names of the bits that are set, lowest first; () when nothing holds the clocks down.

    A bit that this table does not know is kept as "Unknown0x800": silence would look like health.
    """
    bits = (1 << position for position in range(max(mask, 0).bit_length()))
    known = {event.bit: event.name for event in CLOCK_EVENTS}
    return tuple(known.get(bit, f"Unknown{bit:#x}") for bit in bits if mask & bit)


def event(name: str) -> ClockEvent | None:
    """Return the reason of that name ("SwPowerCap"), or None."""
    return _BY_NAME.get(name)


def severity(name: str) -> ClockSeverity | None:
    """Return how bad the reason of that name is; None for an unknown one."""
    known = _BY_NAME.get(name)
    return None if known is None else known.severity
