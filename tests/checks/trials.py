"""Results of probe trials as a check may meet them: trained, broken, refused, paired."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Arm, Comparison, Trial
from gpudoctor.model.words import Processor, TrialStatus

MIB = 1024 * 1024


def trained(
    name: str = "baseline", *, device: Processor = "GPU", step_s: float = 0.0011, arm: str = "", device_name: str = ""
) -> Trial:
    """Return a trial of one arm that trained well on that device."""
    return Trial(
        name=name,
        device=device,
        device_name=device_name or (f"/physical_device:{device}:0"),
        duration_s=2.0,
        arms=(
            Arm(
                name=arm or name,
                steps=400,
                step_s=step_s,
                examples_per_s=round(128 / step_s, 1),
                loss_first=2.31,
                loss_last=0.08,
                peak_bytes=16 * MIB,
            ),
        ),
    )


def on_cpu(step_s: float = 0.0051) -> Trial:
    """Return the baseline as it looks where TensorFlow does not use a GPU."""
    return trained(device="CPU", step_s=step_s)


def broken(name: str = "baseline", *, status: TrialStatus = "crashed", reason: str = "") -> Trial:
    """Return a trial that did not end well; no device is known."""
    return Trial(name=name, status=status, reason=reason or f"the child {status}", device=Missing(status))


def refused(name: str = "baseline", *, reason: str = "the GPU is busy; use --force") -> Trial:
    """Return a trial that was not run, so that the GPU is left alone."""
    return Trial(name=name, status="refused", reason=reason, device=Missing("refused"))


def paired(
    name: str,
    fast: str,
    slow: str,
    *,
    speedup: float,
    half: float = 0.05,
    step_s: float = 0.004,
    device: Processor = "GPU",
) -> Trial:
    """Return a trial of two paired arms whose speed-up lies in speedup +- half."""
    return Trial(
        name=name,
        device=device,
        duration_s=6.0,
        arms=(Arm(name=slow, steps=80, step_s=step_s), Arm(name=fast, steps=80, step_s=step_s / speedup)),
        comparisons=(
            Comparison(arm=fast, against=slow, pairs=8, speedup=speedup, low=speedup - half, high=speedup + half),
        ),
    )


def healthy_trials(step_s: float = 0.0011) -> dict[str, Trial]:
    """Return the trials of the standard level on a machine where all is well."""
    gradcheck = trained("gradcheck", step_s=step_s)
    return {
        "baseline": trained(step_s=step_s),
        "cpu": trained("cpu", device="CPU", step_s=0.0048),
        "gradcheck": replace(gradcheck, values={"max_relative_error": 2.1e-6, "tolerance": 1e-3}),
        "prefetch": paired("prefetch", "explicit", "none", speedup=1.35),
        "precision": paired("precision", "mixed", "float32", speedup=1.9),
        "numpy_loop": paired("numpy_loop", "tensor_ops", "numpy", speedup=2.6),
    }
