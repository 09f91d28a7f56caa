"""Several steps in one call, as the loop at hand can have them: Keras's by a setting, a loop of the user's own by its code."""

from __future__ import annotations

from gpudoctor.sdk import HotLines, StepTimes
from gpudoctor_checks.recorded import diff


def source_of(steps: StepTimes, lines: HotLines | None) -> str:
    """Return the user's own line of the loop, '' where it is not at hand."""
    own = lines.lines if lines is not None else ()
    return next((each.snippet for each in own if (each.file, each.line) == (steps.file, steps.line)), "")


def several_steps(steps: StepTimes, source: str) -> str:
    """Return what fits the loop: Keras runs several steps itself, a loop of the user's own has to do so."""
    if steps.label == "train_on_batch":
        return diff(source, "model.fit(ds, ...)  # with model.compile(..., steps_per_execution=16)")
    if steps.label != "loop":
        return diff("", "model.compile(..., steps_per_execution=16)")
    if steps.kind == "scan":  # it is inside a tf.function already: a step can only do more
        return diff(source, "# a larger batch: ds.batch(4 * batch_size); check the learning rate")
    return diff(
        source,
        "@tf.function",
        "def steps_of(ds):  # your step of each batch, without a return to Python between them",
        "    for batch in ds: step(batch)",
        "steps_of(ds)",
    )
