"""GD621: a debugging mode was on in this run.

What it does
    Reads TensorFlow's own switches as they were in force: functions run eagerly, numerics checked after each operation,
    deterministic operations.

Why it matters
    tf.config.run_functions_eagerly(True) takes every graph away, the check of numerics adds a look at each tensor, and
    deterministic operations are slower ones. They are set once to find a bug and stay.

How to fix
    Remove the call that the finding names. Keep determinism where runs must repeat bit by bit, and know that it costs.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Settings, Severity, StepTimes, Trial, check
from gpudoctor_checks.recorded import WHOLE, bound, known_share, place, weigh_run

SURE = 0.95
CALLS = {
    "eager_functions": "tf.config.run_functions_eagerly(True)",
    "debug_numerics": "tf.debugging.enable_check_numerics()",
}
CHOSEN = {"deterministic": "tf.config.experimental.enable_op_determinism()"}


@check(
    code="GD621",
    slug="debugging-in-force",
    title="A debugging mode is on",
    family="compute",
    cause="debug-mode",
    core=False,
)
def debugging(settings: Settings, steps: StepTimes | None, baseline: Trial | None) -> Iterator[Finding]:
    """Name what is on: a warning for what only debugging wants, a note for what may be meant."""
    for calls, severity in ((CALLS, Severity.WARNING), (CHOSEN, Severity.INFO)):
        on = [name for name in calls if settings.on(name)]
        if not on:
            continue
        weight = weigh_run(SURE, baseline)
        share = known_share(steps.shares.compute) + known_share(steps.shares.host) if steps is not None else 0.0
        yield Finding(
            summary=f"{calls[on[0]]} was in force{f', and {len(on) - 1} more' if len(on) > 1 else ''}.",
            severity=severity,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=tuple(Evidence(label=name, value=True, source="settings in force") for name in on),
            location=place(settings.file, settings.line),
            fixes=(
                Fix(
                    id=f"without-{on[0].replace('_', '-')}",
                    title="Remove it, unless it is meant",
                    action="diff",
                    text="\n".join(f"- {calls[name]}" for name in on),
                    gain=_gain(share),
                    effort_minutes=1,
                ),
            ),
            share=min(1.0, share) if severity is Severity.WARNING else 0.0,
        )


def _gain(share: float) -> Gain:
    """Bound it by what TensorFlow and Python take of a step; where that is the whole step, nothing bounds it."""
    if share == 0.0:
        return Gain(grade=Grade.UNPROVEN, basis="where the time of a step goes is not known")
    if share > WHOLE:
        return Gain(grade=Grade.UNPROVEN, basis="the mode's cost may be nearly the whole step")
    return bound(share, "the mode's whole cost lies in here")
