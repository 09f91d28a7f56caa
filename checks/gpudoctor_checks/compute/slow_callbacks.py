"""GD615: callbacks held up this run, at the end of epochs or with each batch.

What it does
    Adds up the time between the last step of an epoch and the next epoch that callbacks took, and the sampled time of
    callbacks that run with each batch.

Why it matters
    The device does nothing meanwhile. Saving a large model, drawing figures, or predicting over a data set at each end of an
    epoch is easily longer than the epoch itself, and the progress bar does not show it.

How to fix
    Save less often (ModelCheckpoint(save_freq=...), only the weights), draw after the training, log every N batches, or do
    the work in another process. Keep what must happen every epoch small.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    LEAST_END_S,
    Calls,
    Evidence,
    Finding,
    HotLine,
    HotLines,
    Limits,
    Location,
    Severity,
    StepTimes,
    Threshold,
    Trial,
    Weight,
    check,
)
from gpudoctor_checks.compute.callback_changes import less_often, method_of, once_an_epoch
from gpudoctor_checks.recorded import at, hottest_lines, known_share, percent, place, weigh_run

SURE = 0.9
MUCH = Threshold(
    name="callback_share",
    default=0.15,
    unit="",
    meaning="callbacks that take this share of an epoch are told",
    source='XProf\'s class "high" for time of a step that is neither input nor device',
    most=1.0,
)


@check(
    code="GD615",
    slug="slow-callbacks",
    title="Callbacks hold up the training",
    family="compute",
    cause="epoch-end-stall",
    core=False,
    thresholds=(MUCH,),
)
def stalled(
    calls: Calls, hot_lines: HotLines | None, steps: StepTimes | None, limits: Limits, baseline: Trial | None
) -> Iterator[Finding]:
    """Judge callbacks at the end of epochs, and those of each batch: a training may be held up by both."""
    each_s = calls.epoch_end_s / max(1, calls.steady_epochs)
    weight = weigh_run(SURE, baseline)
    if calls.epoch_end_share >= limits.of(MUCH) and each_s >= LEAST_END_S:
        yield _at_the_end(calls, each_s, _hottest(hot_lines, ("on_epoch_end", "on_epoch_begin")), steps, weight)
    per_batch = _in_batches(hot_lines)
    device = known_share(steps.shares.device) if steps is not None else 0.0
    share = min(sum(each.share for each in per_batch), 1 - device)  # what a GPU works beside costs nothing
    if share >= limits.of(MUCH):
        yield _with_batches(per_batch, share, steps, weight)


def _at_the_end(calls: Calls, each_s: float, line: HotLine | None, steps: StepTimes | None, weight: Weight) -> Finding:
    share = calls.epoch_end_share
    where = f" ({at(line.file, line.line)})" if line is not None else ""
    return Finding(
        summary=f"Callbacks between the epochs take {share:.0%} of the time{where}.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("callbacks", share),
            Evidence(label="between two epochs", value=round(each_s, 4), unit="s", source="run"),
            Evidence(label="epochs", value=calls.steady_epochs, source="run"),
        ),
        location=_place(line, steps),
        fixes=(less_often(line, share),),
        share=share,
    )


def _with_batches(lines: list[HotLine], share: float, steps: StepTimes | None, weight: Weight) -> Finding:
    first = lines[0]
    return Finding(
        summary=f"Callbacks of each batch take {share:.0%} of the time ({at(first.file, first.line)}).",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(*percent("callbacks of each batch", share, "sampled stacks"), *hottest_lines(tuple(lines))),
        location=_place(first, steps),
        fixes=(once_an_epoch(first, share),),
        share=share,
    )


def _place(line: HotLine | None, steps: StepTimes | None) -> Location | None:
    if line is not None:
        return place(line.file, line.line, line.snippet)
    return place(steps.file, steps.line) if steps is not None else None


def _in_batches(lines: HotLines | None) -> list[HotLine]:
    names = ("on_train_batch", "on_batch")
    own = [each for each in lines.lines if each.role == "main"] if lines is not None else []
    return [each for each in own if each.function.startswith(names)]


def _hottest(lines: HotLines | None, functions: tuple[str, ...]) -> HotLine | None:
    own = [each for each in lines.lines if each.role == "main"] if lines is not None else []
    return next((each for each in own if method_of(each) in functions), None)
