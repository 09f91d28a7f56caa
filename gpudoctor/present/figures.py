"""Numbers as people read them: sizes, times, speed-ups, always with their unit."""

from __future__ import annotations

from gpudoctor.model.finding import Evidence, Gain, Grade, Peak
from gpudoctor.model.missing import Missing, either

KIB = 1024
WIDE, TEN = 2.0, 10  # display only: an interval that ends at twice its start has no use for hundredths


def size(count: float) -> str:
    """Return bytes as KiB, MiB or GiB."""
    for unit, power in (("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if abs(count) >= KIB**power:
            return f"{count / KIB**power:.4g} {unit}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """Return seconds as ms, s or min."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def effort(minutes: float) -> str:
    """Return an effort as minutes or hours."""
    return f"{minutes:g} min" if minutes < 60 else f"{minutes / 60:g} h"


def gain(value: Gain) -> str:
    """Return a gain as short as possible with its grade: `1.3-1.9x probe`, `<= 3.4x bound`, `unblocks`."""
    if value.speedup is None:
        return value.grade.value
    if value.grade is Grade.BOUND:
        return f"<= {value.speedup:.2g}x bound"
    if value.low is not None and value.high is not None:
        if value.high > WIDE * value.low:
            return f"{_rough(value.low)}-{_rough(value.high)}x {value.grade.value}"
        return f"{value.low:.2f}-{value.high:.2f}x {value.grade.value}"
    return f"{value.speedup:.2f}x {value.grade.value}"


def _rough(speedup: float) -> str:
    return f"{speedup:.1f}" if speedup < TEN else f"{speedup:.0f}"


def peak(value: Peak) -> str:
    """Return it as `predicted peak: 5.1 to 7.9 GiB`, with the word bound where it is arithmetic alone, or why there is none."""
    low, high = value.low_bytes, value.high_bytes
    word = " (bound)" if value.bound else ""
    if isinstance(low, Missing) and isinstance(high, Missing):
        return f"peak not predicted: {low.reason}"
    if isinstance(low, Missing) or isinstance(high, Missing):
        known = f"at most {size(high)}" if not isinstance(high, Missing) else f"at least {size(either(low, 0))}"
        return f"predicted peak: {known}{word}"
    return f"predicted peak: {size(low)}{'' if size(low) == size(high) else f' to {size(high)}'}{word}"


def evidence(item: Evidence) -> str:
    """Return the value with its unit; bytes and seconds are scaled."""
    value = item.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"{value} {item.unit}".strip()
    if item.unit == "bytes":
        return size(value)
    if item.unit == "s":
        return duration(value)
    if item.unit == "share":
        return f"{value:.0%}"
    return f"{value:g} {item.unit}".strip()
