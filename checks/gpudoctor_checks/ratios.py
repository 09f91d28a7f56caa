"""What a paired ratio of two arms proves: a gain, that there is none, or nothing yet.

Three answers, not two: an interval that holds both 1.0 and a gain is no proof of "no gain".
"""

from __future__ import annotations

from gpudoctor.sdk import Comparison, Evidence, Gain, Grade, Trial

# The whole 95 % t-interval must lie above this: A-against-A runs then claim a gain in under 1 % of cases (8 pairs,
# spread 0.15, the noise measured on a shared 2-core machine); a bar at 1.00 claims twice as often.
GAIN_ABOVE = 1.02


def find(trial: Trial | None, arm: str, against: str) -> Comparison | None:
    """Return the comparison of these two arms, if the trial came to its end."""
    if trial is None or trial.status != "ok":
        return None
    return next((each for each in trial.comparisons if (each.arm, each.against) == (arm, against)), None)


def gains(ratio: Comparison | None) -> bool:
    """Tell whether a gain is proven."""
    return ratio is not None and ratio.low > GAIN_ABOVE


def gains_nothing(ratio: Comparison | None) -> bool:
    """Tell whether it is proven that there is no gain worth having."""
    return ratio is not None and ratio.high <= GAIN_ABOVE


def told(ratio: Comparison) -> str:
    """Return the ratio with its interval."""
    return f"{ratio.speedup:.2f}x ({ratio.low:.2f}-{ratio.high:.2f})"


def span(ratio: Comparison) -> str:
    """Return the interval alone: where it is wide, its middle would promise too much."""
    low, high = f"{ratio.low:.1f}", f"{ratio.high:.1f}"
    return f"{high}x" if low == high else f"{low}-{high}x"


def shown(label: str, ratio: Comparison | None, trial: str) -> tuple[Evidence, ...]:
    """Return the ratio as evidence, none where it was not measured."""
    if ratio is None:
        return ()
    source = f"probe, trial {trial}: {ratio.arm} over {ratio.against}, {ratio.pairs} pairs, 95 % interval"
    return (Evidence(label=label, value=told(ratio), source=source),)


def probe_gain(ratio: Comparison) -> Gain:
    """Return what a change brought to the reference network: never the user's own speed-up."""
    return Gain(
        grade=Grade.PROBE,
        speedup=round(ratio.speedup, 3),
        low=round(ratio.low, 3),
        high=round(ratio.high, 3),
        basis="on the reference network, on this machine",
    )
