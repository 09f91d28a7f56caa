"""A number that a check decides by, and its value in force: the configuration may move it within stated bounds.

A plain constant in the check would be simpler; then nobody could tune a fleet's limits without a fork, or see them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.record import dataclass

UNBOUNDED = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One threshold: `[rules.CODE] name = value` moves it. A default that is an int takes whole numbers only.

    `source`: where the default comes from, as for every number; `least` and `most` are the bounds of what makes sense.
    """

    name: str
    default: float
    unit: str
    meaning: str
    source: str
    least: float = 0.0
    most: float = UNBOUNDED

    @property
    def whole(self) -> bool:
        """Return whether only whole numbers make sense (a number of steps, of calls)."""
        return isinstance(self.default, int)

    @property
    def bounds(self) -> str:
        """Return the bounds in words."""
        return f"{self.least:g} or more" if self.most == UNBOUNDED else f"from {self.least:g} to {self.most:g}"

    def takes(self, value: object) -> bool:
        """Return whether a value of the configuration can stand here; true and false are no numbers."""
        kinds = (int,) if self.whole else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool) and self.least <= value <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The thresholds in force for one check: what was configured, else the defaults. `moved` holds the former."""

    moved: Mapping[str, float] = field(default_factory=dict[str, float])

    def of(self, threshold: Threshold) -> float:
        """Return the value in force."""
        return self.moved.get(threshold.name, threshold.default)
