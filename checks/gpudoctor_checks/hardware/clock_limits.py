"""From when on lowered clocks and limits count: the thresholds of GD801."""

from __future__ import annotations

from gpudoctor.sdk import Threshold

CUT = Threshold(
    name="slowdown_ratio",
    default=2.0,
    unit="times",
    meaning="a hardware slowdown that divides the core clock by this or more is an error, a smaller one a warning",
    source='nvml.h: a hardware slowdown reduces core clocks "by a factor of 2 or more"',
    least=1.0,
)
LOWERED = Threshold(
    name="lowered_limit_w",
    default=1.0,
    unit="W",
    meaning="a power limit counts as lowered where it is more than this below the board's own",
    source="nvidia-smi -pl takes whole watts, NVML answers in milliwatts",
)
