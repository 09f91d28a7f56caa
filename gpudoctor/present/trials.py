"""The probe's trials as a table: what ran where, how fast, and which ratios stand clear of the noise."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.diagnose.ranking import NO_GAIN_BELOW
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.observed import Arm, Comparison, Probe, Trial
from gpudoctor.present import figures, ladder
from gpudoctor.present.style import printable


def render(probe: Probe, *, verbose: bool = False) -> str:
    """Return the table."""
    lines: list[str] = []
    if probe.gpu_left_alone:
        lines.append(f"GPU left alone: {printable(probe.gpu_left_alone)}")
    for trial in probe.trials.values():
        lines.extend(_trial(trial, verbose=verbose))
    for child in probe.children:
        spent = "" if isinstance(child.import_s, Missing) else f", import {figures.duration(child.import_s)}"
        lines.append(f"child {child.environment}: {child.status}{spent} {printable(child.reason)}".rstrip())
    lines.append(f"all in {figures.duration(probe.duration_s)}")
    return "\n".join(lines) + "\n"


def _trial(trial: Trial, *, verbose: bool) -> Iterator[str]:
    reason = f"  {printable(trial.reason)}" if trial.reason else ""
    yield f"{trial.name:<14} {trial.status:<13} {either(trial.device, '-'):<4} {figures.duration(trial.duration_s):>8}{reason}"
    for comparison in trial.comparisons:
        yield f"    {_ratio(comparison)}"
    yield from (f"    {line}" for line in ladder.lines(trial))
    if not verbose:
        return
    for arm in trial.arms:
        yield f"    {_arm(arm)}"
    for name, value in trial.values.items():
        yield f"    {name:<28} {value:.6g}"
    for note in trial.notes:
        yield f"    {printable(note)}"


def _ratio(ratio: Comparison) -> str:
    verdict = "" if ratio.low > NO_GAIN_BELOW else "  no proven gain"
    words = f"{ratio.arm} over {ratio.against}: {ratio.speedup:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}]"
    return f"{words}, {ratio.pairs} pairs{verdict}"


def _arm(arm: Arm) -> str:
    step = "-" if isinstance(arm.step_s, Missing) else f"{figures.duration(arm.step_s)}/step"
    speed = "" if isinstance(arm.examples_per_s, Missing) else f", {arm.examples_per_s:,.0f} examples/s"
    return f"{arm.name:<12} {step}{speed}, {arm.steps} steps"
