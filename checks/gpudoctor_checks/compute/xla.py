"""GD605: whether XLA pays on this machine.

What it does
    Trains the reference network compiled with XLA and without, in turn; on a GPU also a twin wide enough to keep it busy.
    Both ways are asked for outright, so neither TensorFlow's nor Keras's default decides. It does not see your script.

Why it matters
    XLA joins small operations into few kernels, which saves launches and trips to memory; it costs a compilation for every
    new shape. Keras 3 turns it on by itself on a GPU where all layers allow it, so asking Keras for it there brings nothing;
    a loop of your own with tf.function, and Keras 2, have it off. Where XLA is slower here, that default costs.

How to fix
    Faster: @tf.function(jit_compile=True) on your own step; Keras 2: model.compile(..., jit_compile=True).
    Slower: model.compile(..., jit_compile=False). Keep shapes few: drop_remainder=True, padded lengths.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Comparison, Finding, Fix, Gain, Grade, Inconclusive, Severity, Trial, check
from gpudoctor_checks.ratios import find, gains, gains_nothing, probe_gain, shown, told

MEASURED = 0.5  # policy: the ratio is measured, but whether your script is as small or as wide was not seen
NO_SLOWER = 1 / 1.02  # the noise bar of `ratios`, from the other side


@check(
    code="GD605",
    slug="xla",
    title="Whether XLA pays here",
    family="compute",
    cause="launch-bound",
    trials=("jit",),
    core=False,
)
def pays(jit: Trial | None) -> Iterator[Finding]:
    """Believe the trial; the small network tells of launches, the wide one of work."""
    if jit is None or jit.status != "ok":
        raise Inconclusive("not measured" if jit is None else jit.reason or f"the trial is {jit.status}")
    if jit.device != "GPU":
        raise Inconclusive("the trial ran on the CPU, where Keras leaves XLA off")
    small, wide = find(jit, "on", "off"), find(jit, "wide_on", "wide_off")
    if small is None:
        raise Inconclusive("the two ways were not compared")
    slower = next((each for each in (wide, small) if each is not None and each.high < NO_SLOWER), None)
    if slower is not None:
        yield _finding(small, wide, _off(), f"XLA makes steps slower here: {told(slower)}.")
    elif gains(small):
        yield _finding(small, wide, _on(small), f"XLA: {told(small)} on the small reference network.")
    elif not gains_nothing(small):
        raise Inconclusive(f"no proven gain on the reference network: {told(small)}")


def _finding(small: Comparison, wide: Comparison | None, fix: Fix, summary: str) -> Finding:
    return Finding(
        summary=summary,
        severity=Severity.INFO,
        confidence=MEASURED,
        basis="measured on the reference network; your own model was not seen",
        evidence=(*shown("XLA, small network", small, "jit"), *shown("XLA, wide network", wide, "jit")),
        fixes=(fix,),
    )


def _on(ratio: Comparison) -> Fix:
    return Fix(
        id="xla-on",
        title="XLA for a step of your own, or Keras 2",
        action="diff",
        text="@tf.function(jit_compile=True)  # Keras 3 on a GPU does it by itself",
        gain=probe_gain(ratio),
        risk="medium",
        effort_minutes=10,
    )


def _off() -> Fix:
    return Fix(
        id="xla-off",
        title="Tell Keras to leave XLA off",
        action="diff",
        text="model.compile(..., jit_compile=False)  # Keras 3 turns it on by itself on a GPU",
        gain=Gain(grade=Grade.UNPROVEN, basis="slower on the reference network; your model was not measured"),
        effort_minutes=5,
    )
