"""GD551: the log says that the data ended before training did.

What it does
    Reads Keras' "Your input ran out of data" from a text. Keras says so, too, of data whose number it does not know and was not
    told: after a recorded run in which fit() had no steps_per_epoch it means nothing.

Why it matters
    fit() was told steps_per_epoch and got fewer batches, so training is cut short. It is a matter of the data set, neither of
    the GPU nor of its memory.

How to fix
    Add .repeat() to the data set, or give steps_per_epoch the true number of batches (or leave it out).
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import UNTIL_THE_END, Finding, Log, Settings, Trial, check
from gpudoctor_checks.said import change, events, log_finding, weigh_program

REPEAT = change(
    "repeat-dataset",
    "Repeat the data, or give the true step count",
    "dataset = dataset.repeat()  # or steps_per_epoch=len(x) // batch_size",
    why="each epoch then finds its batches",
    minutes=2,
)


@check(
    code="GD551",
    slug="data-ended",
    title="The data ended before training did",
    family="input",
    cause="data-ended",
    core=False,
)
def ended(log: Log, baseline: Trial | None, settings: Settings | None) -> Iterator[Finding]:
    """Believe the message, unless fit() was to run until the data end."""
    found = events(log, "data_ended")
    if found and (settings is None or settings.get("fit_steps") != UNTIL_THE_END):
        summary = "Training stops because the data ran out; the GPU is not at fault."
        yield log_finding(summary, weigh_program(0.93, baseline), found, REPEAT, cause="data-ended")
