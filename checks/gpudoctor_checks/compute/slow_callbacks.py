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
    Action,
    Calls,
    Evidence,
    Finding,
    Fix,
    HotLine,
    HotLines,
    Limits,
    Location,
    Severity,
    StepTimes,
    Threshold,
    Trial,
    check,
)
from gpudoctor_checks.recorded import at, bound, hottest_lines, known_share, percent, place, weigh_run

SURE = 0.9
MUCH = Threshold(
    name="callback_share",
    default=0.15,
    unit="",
    meaning="callbacks that take this share of an epoch are told",
    source='XProf\'s class "high" for time of a step that is neither input nor device',
    most=1.0,
)
LEAST_S = 0.05  # policy: less in an epoch is nobody's trouble


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
    """Judge callbacks at the end of epochs, then those of each batch."""
    at_end = calls.epoch_end_share
    each_s = calls.epoch_end_s / max(1, calls.steady_epochs)
    per_batch = _in_batches(hot_lines)
    device = known_share(steps.shares.device) if steps is not None else 0.0
    with_batches = min(sum(each.share for each in per_batch), 1 - device)  # what a GPU works beside costs nothing
    weight = weigh_run(SURE, baseline)
    if at_end >= limits.of(MUCH) and each_s >= LEAST_S:
        line, share = _hottest(hot_lines, "on_epoch_end"), at_end
        where = f" ({at(line.file, line.line)})" if line is not None else ""
        words, fix = f"Callbacks at the end of an epoch take {at_end:.0%} of it{where}.", _less_often(line, share)
        evidence = (
            *percent("callbacks", share),
            Evidence(label="at the end of an epoch", value=round(each_s, 4), unit="s", source="run"),
            Evidence(label="epochs", value=calls.steady_epochs, source="run"),
        )
    elif with_batches >= limits.of(MUCH):
        line, share = per_batch[0], with_batches
        words = f"Callbacks of each batch take {share:.0%} of the time ({at(line.file, line.line)})."
        fix = _once_an_epoch(line, share)
        evidence = (*percent("callbacks of each batch", share, "sampled stacks"), *hottest_lines(tuple(per_batch)))
    else:
        return
    yield Finding(
        summary=words,
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=evidence,
        location=_place(line, steps),
        fixes=(fix,),
        share=share,
    )


def _less_often(line: HotLine | None, share: float) -> Fix:
    """Move what was seen in the user's own on_epoch_end; of any other callback no line is known that could be changed."""
    title = "Do it less often, or after the training"
    if line is None:
        return _fix(
            title, "fit(..., callbacks=[...]): save, draw or predict every few epochs, or after it", share, "manual"
        )
    return _fix(title, "- def on_epoch_end(self, epoch, logs=None):\n+ def on_train_end(self, logs=None):", share)


def _once_an_epoch(line: HotLine, share: float) -> Fix:
    """Move the method that was seen to the same side of an epoch."""
    side = "begin" if line.function.endswith("begin") else "end"
    text = f"- def {line.function}(self, batch, logs=None):\n+ def on_epoch_{side}(self, epoch, logs=None):"
    return _fix("Do it once an epoch, or every N batches", text, share)


def _fix(title: str, text: str, share: float, action: Action = "diff") -> Fix:
    gain = bound(share, "callbacks take no time any more")
    return Fix(id="lighter-callbacks", title=title, action=action, text=text, gain=gain, effort_minutes=15)


def _place(line: HotLine | None, steps: StepTimes | None) -> Location | None:
    if line is not None:
        return place(line.file, line.line, line.snippet)
    return place(steps.file, steps.line) if steps is not None else None


def _in_batches(lines: HotLines | None) -> list[HotLine]:
    names = ("on_train_batch", "on_batch")
    own = [each for each in lines.lines if each.role == "main"] if lines is not None else []
    return [each for each in own if each.function.startswith(names)]


def _hottest(lines: HotLines | None, function: str) -> HotLine | None:
    own = [each for each in lines.lines if each.role == "main"] if lines is not None else []
    return next((each for each in own if each.function == function), None)
