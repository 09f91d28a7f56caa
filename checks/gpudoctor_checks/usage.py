"""How sure a remark about the pace of training is, given what the probe did: it matters only where the GPU is used.

`weigh_unusable` would be the nearest; it asks whether the GPU works at all, which a slow start or a slow disk never decides.
"""

from __future__ import annotations

from gpudoctor.sdk import BROKEN, Trial, Weight

# Policy, not measurements, in the manner of the weights that the SDK gives.
DOUBT_LEFT_WHERE_USED = 0.5
TRUST_LEFT_WHERE_UNUSED = 0.6
TRUST_LEFT_WHERE_BROKEN = 0.8


def weigh_pace(static: float, trial: Trial | None) -> Weight:
    """Weigh a remark about pace: more certain where training uses the GPU, less where something graver comes first."""
    if trial is None:
        return Weight(confidence=static, basis="facts only; the probe did not run")
    if trial.status in BROKEN:
        kept = round(static * TRUST_LEFT_WHERE_BROKEN, 3)
        return Weight(confidence=kept, basis=f"facts; the probe {trial.status}, which comes first")
    if trial.status == "ok" and trial.device == "GPU":
        sure = round(1 - (1 - static) * DOUBT_LEFT_WHERE_USED, 3)
        return Weight(confidence=sure, basis="facts, and the probe trained on the GPU")
    if trial.status == "ok":
        kept = round(static * TRUST_LEFT_WHERE_UNUSED, 3)
        return Weight(confidence=kept, basis="facts, but training does not use the GPU here")
    return Weight(confidence=static, basis=f"facts only; the probe says nothing ({trial.reason or trial.status})")
