"""How sure it is that packages which do not fit break TensorFlow: an import that failed confirms, a training refutes."""

from __future__ import annotations

from gpudoctor.sdk import BROKEN, TensorFlow, Trial, Weight, either

# Policy, not measurements, as for the weights that the SDK gives.
DOUBT_LEFT_WHEN_CONFIRMED = 0.2
TRUST_LEFT_WHEN_REFUTED = 0.2


def weigh_import(static: float, tensorflow: TensorFlow | None, trial: Trial | None) -> Weight:
    """Weigh the suspicion that the import, or what uses these packages, fails; on which device does not matter."""
    if trial is not None and trial.status == "ok":
        kept = round(static * TRUST_LEFT_WHEN_REFUTED, 3)
        return Weight(confidence=kept, basis="the packages' own requirements, but a trial trained")
    failed = tensorflow is not None and bool(either(tensorflow.import_error, ""))
    if failed or (trial is not None and trial.status in BROKEN):
        sure = round(1 - (1 - static) * DOUBT_LEFT_WHEN_CONFIRMED, 3)
        what = "the import failed" if failed or trial is None else f"the probe {trial.status}"
        return Weight(confidence=sure, basis=f"the packages' own requirements, and {what}")
    return Weight(confidence=static, basis="the packages' own requirements; the probe did not train")
