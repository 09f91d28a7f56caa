"""What to do about a slow callback, as a diff of its own method: at the end of an epoch, or with each batch."""

from __future__ import annotations

from gpudoctor.sdk import Action, Fix, HotLine
from gpudoctor_checks.recorded import bound


def less_often(line: HotLine | None, share: float) -> Fix:
    """Move what was seen in the user's own on_epoch_end or on_epoch_begin; of any other callback no line is known that could be changed."""
    title = "Do it less often, or after the training"
    if line is None:
        return _fix(
            title, "fit(..., callbacks=[...]): save, draw or predict every few epochs, or after it", share, "manual"
        )
    whole = line.function.replace("epoch", "train")
    return _fix(title, f"- def {line.function}(self, epoch, logs=None):\n+ def {whole}(self, logs=None):", share)


def once_an_epoch(line: HotLine, share: float) -> Fix:
    """Move the method that was seen to the same side of an epoch."""
    side = "begin" if line.function.endswith("begin") else "end"
    text = f"- def {line.function}(self, batch, logs=None):\n+ def on_epoch_{side}(self, epoch, logs=None):"
    return _fix("Do it once an epoch, or every N batches", text, share, name="rarer-callbacks")


def _fix(title: str, text: str, share: float, action: Action = "diff", *, name: str = "lighter-callbacks") -> Fix:
    gain = bound(share, "callbacks take no time any more")
    return Fix(id=name, title=title, action=action, text=text, gain=gain, effort_minutes=15)
