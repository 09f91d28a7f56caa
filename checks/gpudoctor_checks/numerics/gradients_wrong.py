"""GD901: the device computes gradients that rounding cannot explain.

What it does
    Trains one batch of the reference probe's network and compares every gradient with a back-propagation done in float64
    by NumPy. The tolerance covers what float32, TF32 or float16 arithmetic may lose, and nothing more. A short training
    must also make the loss fall.

Why it matters
    Training on wrong gradients can still print a falling loss. It ends in a worse model, in NaN, or in results that
    nobody can repeat, and no message says so: the hardware, the driver and TensorFlow all report success.

How to fix
    Do not trust results from this device until the cause is known. Repeat the trial: a fault that comes and goes points to
    memory, power or heat; one that repeats exactly points to a library or a compiler.
    Then take the parts out one by one: TF32, XLA, mixed precision. Last, let NVIDIA's own diagnosis test the board.
    An oscillating loss alone is no sign of this fault: look at learning rate, batch size and data first.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Devices, Finding, Fix, Inconclusive, Severity, Trial, check, either, unblocks
from gpudoctor_checks.figures import known

COMPARED = 0.95  # both sides were computed here; left open is a fault of the reference itself
FLAT = 0.7  # something in training is wrong, and it need not be the gradients
ALSO_BASELINE = 0.99  # the same device also failed to make the loss fall
TRUST = unblocks("no result of this device can be trusted before")

# The trial names the first arm at fault; plain float32 comes first, so an arm named first means that float32 is sound.
STOPGAPS = {
    "jit": Fix(
        id="no-xla",
        title="Train without XLA until the cause is known",
        action="diff",
        text="model.compile(..., jit_compile=False)",
        gain=TRUST,
    ),
    "mixed": Fix(
        id="float32-for-now",
        title="Train in float32 until the cause is known",
        action="diff",
        text='keras.mixed_precision.set_global_policy("float32")',
        gain=TRUST,
    ),
}
FIXES = (
    Fix(
        id="repeat-gradcheck",
        title="Repeat the comparison, with and without TF32",
        action="command",
        text="gpudoctor probe --trial gradcheck\nNVIDIA_TF32_OVERRIDE=0 gpudoctor probe --trial gradcheck",
        gain=TRUST,
        risk="none",
    ),
    Fix(
        id="read-gpu-errors",
        title="Read the board's own memory errors",
        action="command",
        text="nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER",
        gain=TRUST,
        risk="none",
    ),
    Fix(
        id="test-board",
        title="Test the idle GPU with NVIDIA's DCGM",
        action="command",
        text="dcgmi diag -r 3",
        gain=TRUST,
        effort_minutes=30,
    ),
)


@check(
    code="GD901",
    slug="gradients-wrong",
    title="The device computes wrong gradients",
    family="numerics",
    cause="gradients-wrong",
    trials=("gradcheck", "baseline"),
)
def wrong(gradcheck: Trial, baseline: Trial | None, devices: Devices | None) -> Iterator[Finding]:
    """Judge the comparison with the float64 reference; gradients that are right must also make the loss fall."""
    flat = baseline is not None and _learnt_nothing(baseline)
    if gradcheck.status == "failed" or _beyond_rounding(gradcheck):
        stopgaps = (fix for arm, fix in STOPGAPS.items() if gradcheck.reason.startswith(f"{arm},"))
        basis = f"the probe compared them{', and its loss did not fall' if flat else ''}"
        words = f"The {gradcheck.device} computes gradients that rounding cannot explain."
        yield _finding(words, ALSO_BASELINE if flat else COMPARED, basis, gradcheck, (*stopgaps, *FIXES))
    elif flat and baseline is not None:
        right = "though its gradients are right" if gradcheck.status == "ok" else "and its gradients were not compared"
        words = f"The reference network does not learn on the {baseline.device}, {right}."
        yield _finding(words, FLAT, f"the probe trained; gradcheck {gradcheck.status}", baseline, FIXES)
    elif gradcheck.status != "ok":
        raise Inconclusive(f"the comparison did not end: {gradcheck.reason or gradcheck.status}")
    elif devices is not None and gradcheck.device != "GPU":
        raise Inconclusive("the gradients were compared on the CPU only; the GPU was not tried")


def _beyond_rounding(gradcheck: Trial) -> bool:
    """Believe the figures before the word: an error above its own tolerance (or none that is a number) is a fault."""
    measured = {name for name in gradcheck.values if name.endswith("max_relative_error")}
    limits = {name: name.replace("max_relative_error", "tolerance") for name in measured}
    return gradcheck.status == "ok" and any(
        not gradcheck.values[name] <= gradcheck.values[limit]
        for name, limit in limits.items()
        if limit in gradcheck.values
    )


def _learnt_nothing(baseline: Trial) -> bool:
    """Tell whether the loss did not fall, by the word or by the figures of any arm."""
    losses = [(either(arm.loss_first, None), either(arm.loss_last, None)) for arm in baseline.arms]
    rose = any(first is not None and last is not None and not last < first for first, last in losses)
    return baseline.status == "failed" or (baseline.status == "ok" and rose)


def _finding(words: str, confidence: float, basis: str, trial: Trial, fixes: tuple[Fix, ...]) -> Finding:
    source = f"probe, trial {trial.name}"
    figures = ((name.replace("_", " "), value, "") for name, value in trial.values.items())
    return Finding(
        summary=words,
        severity=Severity.ERROR,
        confidence=confidence,
        basis=basis,
        evidence=known(source, ("where", trial.reason, ""), *figures),
        fixes=fixes,
    )
