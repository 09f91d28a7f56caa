"""GD611: the steps of this run were not compiled into a graph.

What it does
    Looks whether the model was compiled with run_eagerly=True, or whether a loop of your own trained step after step
    while no function of yours was in it; and where only a part of the step is in a tf.function, which calls of its gradient
    and update are not, and how long they take. The probe's trial `eager` measures what one operation costs
    here when Python calls it; that slow arm is an instrument and finds nothing by itself.

Why it matters
    Without a graph, Python calls each operation one by one, a hundred microseconds each. A GPU finishes small operations
    faster than Python can ask for them, and XLA cannot fuse what it does not see. How much a graph gains depends on what
    the kernels need: two small dense layers at batch 16 became 8 to 17 times faster (10 ms to 0.6-1.3 ms a step on two
    cores), a step of large kernels gains little. A recording cannot tell the two apart, for a sample inside an operation is
    Python's call and its kernel in one; so no bound is told, and a ratio only where the probe measured one.

How to fix
    Put @tf.function on the function that does one whole step, forward, gradient and update; keep printing and NumPy
    outside. In Keras remove run_eagerly=True from compile().
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Inconclusive,
    Settings,
    Severity,
    StepTimes,
    Tracings,
    Trial,
    check,
)
from gpudoctor_checks.compute.partly_in_graph import partly
from gpudoctor_checks.ratios import find, gains, probe_gain, shown
from gpudoctor_checks.recorded import (
    EAGER,
    at,
    known_share,
    loop_without_graph,
    outside_graph,
    percent,
    place,
    weigh_run,
)

SURE = 0.9
FEWEST = 20  # as for the other verdicts on steps: fewer may be a test of something


@check(
    code="GD611",
    slug="eager-steps",
    title="Steps run without a graph",
    family="compute",
    cause="eager-or-tracing",
    trials=("baseline", "eager"),
    core=False,
)
def without_graph(
    steps: StepTimes,
    tracings: Tracings | None,
    settings: Settings | None,
    baseline: Trial | None,
    eager: Trial | None,
) -> Iterator[Finding]:
    """Judge settings first, then the absence of any traced function of the user's."""
    told = settings is not None and settings.on("run_eagerly")
    if not told and steps.steps >= FEWEST and outside_graph(steps):
        yield partly(steps, weigh_run(SURE, baseline), _fix(told=False, gain=_gain(None)))
        return
    if not told and (tracings is None or steps.steps < FEWEST):
        if steps.kind in EAGER and steps.label == "loop":
            raise Inconclusive("too few steps, or tracings were not recorded")
        return
    if not told and not loop_without_graph(steps, tracings):
        return
    weight = weigh_run(SURE, baseline)
    spot = place(settings.file, settings.line) if told and settings is not None else place(steps.file, steps.line)
    share = known_share(steps.shares.compute) + known_share(steps.shares.host)
    yield Finding(
        summary="run_eagerly=True: Keras builds no graph."
        if told
        else f"No tf.function in the loop at {at(steps.file, steps.line)}.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(*_evidence(steps, told=told), *shown("graph", find(eager, "graph", "eager"), "eager")),
        location=spot,
        fixes=(_fix(told=told, gain=_gain(eager)),),
        share=min(1.0, share),
    )


def _evidence(steps: StepTimes, *, told: bool) -> Iterator[Evidence]:
    yield Evidence(label="run_eagerly", value=told, source="settings in force")
    yield Evidence(label="steps", value=steps.steps, source="run")
    if isinstance(steps.step_s, float):
        yield Evidence(label="step", value=round(steps.step_s, 6), unit="s", source="run")
    yield from percent("GPU at work", steps.shares.device, "NVML or device plane")


def _gain(trial: Trial | None) -> Gain:
    """Rest on what the probe's instrument measured, which is not the user's own speed-up; the run's shares bound nothing.

    Not even the device's own work does: a graph fuses and drops kernels.
    """
    ratio = find(trial, "graph", "eager")
    if ratio is not None and gains(ratio):
        return probe_gain(ratio)
    return Gain(
        grade=Grade.UNPROVEN, basis="a run without a graph cannot tell the calls of operations from their kernels"
    )


def _fix(*, told: bool, gain: Gain) -> Fix:
    if told:
        text = "- model.compile(..., run_eagerly=True)\n+ model.compile(...)"
        return Fix(
            id="not-eagerly", title="Let Keras build a graph", action="diff", text=text, gain=gain, effort_minutes=1
        )
    text = "+ @tf.function\n  def train_step(x, y):  # forward, gradient and update of one step"
    return Fix(id="step-in-graph", title="One whole step in a tf.function", action="diff", text=text, gain=gain)
