"""TensorFlow lists no GPU in a text that holds nothing else: the fault is certain, its reason is not told.

Calling such a text free of trouble would be tempting, since no line of it is an error; it is the commonest cry for help.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import Finding, Fix, Gain, Grade, Log, Severity, TensorFlow, Trial, either, weigh_unusable
from gpudoctor_checks.said import events, log_finding

# What tells nothing of a reason; any other line has a check of its own.
SILENT = frozenset({"visible_gpus", "stated", "harmless", "epoch", "text_end"})
TITLE = "TensorFlow lists no GPU; why is not told"
GUESS = 0.3  # policy: below every cause that a line or a fact names
# one line for each shell, Windows' too; TensorFlow prints its reason before the answer
ASK = (
    "python -c \"import tensorflow as tf; print(tf.test.is_built_with_cuda(), tf.config.list_physical_devices('GPU'))\""
)
ASK_WHY = Fix(
    id="ask-tensorflow-why",
    title="Read TensorFlow's own reason",
    action="command",
    text=ASK,
    gain=Gain(grade=Grade.UNPROVEN, basis="tells the reason; changes nothing"),
    risk="none",
    effort_minutes=1,
)


def listed_without_a_word(log: Log, tensorflow: TensorFlow | None, trial: Trial | None) -> Iterator[Finding]:
    """Yield that no GPU is listed, where neither another line nor the build tells why."""
    none = [each for each in events(log, "visible_gpus") if each.values.get("count") == "0"]
    cuda = either(tensorflow.is_cuda_build, True) if tensorflow is not None else True
    if none and cuda and all(each.kind in SILENT for each in log.events):
        found = log_finding(
            "TensorFlow lists no GPU, and the text does not tell why.",
            weigh_unusable(GUESS, trial),
            none,
            ASK_WHY,
            cause="cpu-build",
            know=ASK,
            severity=Severity.WARNING,
        )
        yield replace(found, title=TITLE)
