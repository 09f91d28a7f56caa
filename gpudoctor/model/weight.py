"""How a static suspicion and a trained probe are weighed together: facts suspect, the probe confirms or contradicts.

The factors are policy, not measurements: one confirmation removes most of the doubt, one contradiction most of the trust.
They are kept in one place so that every check weighs alike.
"""

from __future__ import annotations

from gpudoctor.model.observed import Trial
from gpudoctor.model.record import dataclass

DOUBT_LEFT_WHEN_CONFIRMED = 0.2
DOUBT_LEFT_WHEN_PROBE_BROKE = 0.5
TRUST_LEFT_WHEN_CONTRADICTED = 0.2
OPEN = 0.6  # policy: up to it a cause is the likeliest of several, and the first fix may be the wrong one
BROKEN = frozenset({"failed", "crashed", "timeout", "oom"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A confidence (0-1) and the sentence that says on what it rests."""

    confidence: float
    basis: str


def _less_doubt(static: float, left: float) -> float:
    return round(1 - (1 - static) * left, 3)


def weigh_unusable(static: float, trial: Trial | None) -> Weight:
    """Weigh the suspicion that TensorFlow cannot use the GPU: a probe on the CPU confirms, one on the GPU contradicts."""
    if trial is None:
        return Weight(confidence=static, basis="facts only; the probe did not run")
    if trial.status in BROKEN:
        return Weight(
            confidence=_less_doubt(static, DOUBT_LEFT_WHEN_PROBE_BROKE),
            basis=f"facts, and the probe {trial.name} {trial.status}",
        )
    if trial.status == "ok" and trial.device == "CPU":
        return Weight(
            confidence=_less_doubt(static, DOUBT_LEFT_WHEN_CONFIRMED),
            basis="facts, and the probe trained on the CPU",
        )
    if trial.status == "ok" and trial.device == "GPU":
        return Weight(
            confidence=round(static * TRUST_LEFT_WHEN_CONTRADICTED, 3),
            basis="facts, but the probe trained on the GPU",
        )
    return Weight(confidence=static, basis=f"facts only; the probe says nothing ({trial.reason or trial.status})")


def weigh_faulty(static: float, trial: Trial | None) -> Weight:
    """Weigh the suspicion that work on the GPU fails: a broken trial confirms, a sound one on the GPU contradicts."""
    if trial is None:
        return Weight(confidence=static, basis="facts only; the probe did not run")
    if trial.status in BROKEN:
        return Weight(
            confidence=_less_doubt(static, DOUBT_LEFT_WHEN_CONFIRMED),
            basis=f"facts, and the probe {trial.name} {trial.status}",
        )
    if trial.status == "ok" and trial.device == "GPU":
        return Weight(
            confidence=round(static * TRUST_LEFT_WHEN_CONTRADICTED, 3),
            basis="facts, but the probe trained on the GPU",
        )
    return Weight(confidence=static, basis="facts only; the probe did not use the GPU")
