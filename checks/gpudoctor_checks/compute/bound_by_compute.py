"""GD622: the steps of this run are bound by compute.

What it does
    Says so where steps wait neither for data nor for Python, nothing is traced again, and TensorFlow works for most of the
    step; on a GPU only where the device itself was seen at work. Silent where steps, or parts of them, run without a graph,
    or where they wait for Python of the input (GD515).

Why it matters
    It is the healthy case: no setting of the input pipeline or the loop will help. What is left is less arithmetic for each
    step, or faster arithmetic. Without a graph TensorFlow's time is mostly the calls of single operations, not arithmetic.

How to fix
    Nothing is broken. On a GPU with tensor cores try mixed precision; see whether XLA is on (model.jit_compile); otherwise a
    smaller model, or more devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Finding,
    HotLines,
    Inconclusive,
    MachineOverTime,
    Missing,
    Pipeline,
    Settings,
    Severity,
    StepTimes,
    Tracings,
    Trial,
    check,
)
from gpudoctor_checks.recorded import loop_without_graph, outside_graph, percent, place, weigh_run
from gpudoctor_checks.turns import takes_turns

SURE = 0.85
MOST = 0.8  # policy: what is left for everything else is then XProf's class "moderately" or less
FEWEST = 20
EAGER = ("run_eagerly", "eager_functions")  # settings that take every graph away


@check(
    code="GD622",
    slug="bound-by-compute",
    title="Bound by compute: healthy",
    family="compute",
    cause="compute-bound-healthy",
    core=False,
)
def healthy(
    steps: StepTimes,
    tracings: Tracings | None,
    settings: Settings | None,
    pipeline: Pipeline | None,
    hot_lines: HotLines | None,
    machine: MachineOverTime | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Tell when nothing but compute is left."""
    shares = steps.shares
    if isinstance(shares.compute, Missing) or isinstance(shares.input, Missing):
        raise Inconclusive("the shares of the step are not known")
    if steps.steps < FEWEST or steps.input_class != "not" or shares.compute < MOST:
        return
    if steps.device_plane != "no device" and (isinstance(shares.device, Missing) or shares.device < MOST):
        return
    if takes_turns(steps, pipeline, hot_lines, machine):
        return
    eager = loop_without_graph(steps, tracings)
    if eager or outside_graph(steps) or (settings is not None and any(settings.on(each) for each in EAGER)):
        return
    if eager is None:
        raise Inconclusive("whether the steps run in a graph is not known: tracings were not recorded")
    weight = weigh_run(SURE, baseline, steps)
    yield Finding(
        summary=f"{shares.compute:.0%} of a step is TensorFlow's own work: bound by compute.",
        severity=Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(*percent("compute", shares.compute), *percent("waiting for input", shares.input)),
        location=place(steps.file, steps.line),
    )
