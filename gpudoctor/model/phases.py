"""What goes on around the steps of a run: Keras's own phases, and tracings of functions into graphs."""

from __future__ import annotations

from gpudoctor.model.record import dataclass
from gpudoctor.model.words import PhaseKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """One function that was traced: how often, how long, why again. `rebuilt`: a new function object each time.

    `total_s`: of all but the first; what happened inside another's tracing again is in that one's. `users`: it is theirs.
    """

    name: str
    file: str = ""
    line: int = 0
    count: int = 0
    total_s: float = 0.0
    reasons: tuple[str, ...] = ()
    rebuilt: bool = False
    users: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracings:
    """All functions that were traced; `share`: of `whole_s`, from the first phase or step to the last, first tracings left out."""

    functions: tuple[Tracing, ...] = ()
    share: float = 0.0
    whole_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGroup:
    """Calls of fit, evaluate or predict from one line of the user's, of so many `models`."""

    kind: PhaseKind
    file: str = ""
    line: int = 0
    calls: int = 0
    models: int = 1
    steps: float = 0.0
    total_s: float = 0.0
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Keras's own phases.

    `epochs` counts all; the sums `epoch_s`, and in it `epoch_end_s` (callbacks between epochs: at an end, at a begin) and `validation_s`, are those of the
    `steady_epochs`: the first one is left out where there are more, for it imports, traces and compiles. `stalled_s`: one end
    of an epoch that took longer than all others by far; it is in `epoch_s` alone.
    """

    groups: tuple[CallGroup, ...] = ()
    epochs: int = 0
    steady_epochs: int = 0
    epoch_s: float = 0.0
    epoch_end_s: float = 0.0
    validation_s: float = 0.0
    stalled_s: float = 0.0

    @property
    def epoch_end_share(self) -> float:
        """Return the share of the epochs that callbacks at their ends take, a stall apart; 0 without epochs."""
        whole = self.epoch_s - self.stalled_s
        return min(1.0, self.epoch_end_s / whole) if whole > 0 else 0.0

    @property
    def ends_share(self) -> float:
        """Return the share of the epochs without their validation that lies between the steps of two, a stall included."""
        whole = self.epoch_s - self.validation_s
        return min(1.0, (self.epoch_end_s + self.stalled_s) / whole) if whole > 0 else 0.0
