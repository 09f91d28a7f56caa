"""Weighs a suspicion about cuDNN against the baseline, whose dense layers never call cuDNN.

The usual weighing would be tempting; it would let a network without a convolution acquit a cuDNN that cannot convolve.
"""

from __future__ import annotations

from gpudoctor.sdk import BROKEN, Trial, Weight, weigh_faulty

TRUST_LEFT_BY_DENSE_LAYERS = 0.9  # policy: a trained dense network shows that libraries load, nothing of convolutions


def weigh_cudnn(static: float, baseline: Trial | None) -> Weight:
    """Confirm by a broken baseline; let one that trained on the GPU take away little."""
    if baseline is not None and baseline.status not in BROKEN and baseline.device == "GPU":
        return Weight(
            confidence=round(static * TRUST_LEFT_BY_DENSE_LAYERS, 3),
            basis="facts; the probe trained on the GPU, but its dense layers do not use cuDNN",
        )
    return weigh_faulty(static, baseline)
