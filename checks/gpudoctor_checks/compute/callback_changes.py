"""What to do about a slow callback: a diff of its own method, at the end of an epoch or with each batch, or words."""

from __future__ import annotations

from gpudoctor.sdk import Action, Fix, HotLine
from gpudoctor_checks.recorded import bound

CALLS = " > "  # in a line's function: the callback's method, and what it called


def method_of(line: HotLine) -> str:
    """Return the method of a callback that a line belongs to."""
    return line.function.partition(CALLS)[0]


def less_often(line: HotLine | None, share: float) -> Fix:
    """Move what was seen in the user's own on_epoch_end or on_epoch_begin; else no line is known that could be changed."""
    title = "Do it less often, or after the training"
    if line is None:
        text = "fit(..., callbacks=[...]): save, draw or predict every few epochs, or after it"
        return _fix(title, text, share, "manual")
    method, calls, called = line.function.partition(CALLS)
    if calls:
        return _fix(
            title, f"# {_called(called)}, which {method} calls: every few epochs, or after fit", share, "manual"
        )
    whole = method.replace("epoch", "train")
    return _fix(title, f"- def {method}(self, epoch, logs=None):\n+ def {whole}(self, logs=None):", share)


def once_an_epoch(line: HotLine, share: float) -> Fix:
    """Move the method that was seen to the same side of an epoch."""
    title, name = "Do it once an epoch, or every N batches", "rarer-callbacks"
    method, calls, called = line.function.partition(CALLS)
    if calls:
        text = f"# {_called(called)}, which {method} calls: every N batches, or once an epoch"
        return _fix(title, text, share, "manual", name=name)
    side = "begin" if method.endswith("begin") else "end"
    text = f"- def {method}(self, batch, logs=None):\n+ def on_epoch_{side}(self, epoch, logs=None):"
    return _fix(title, text, share, name=name)


def _called(function: str) -> str:
    return "this line" if function.startswith("<") else f"{function}()"  # <genexpr>, <lambda>


def _fix(title: str, text: str, share: float, action: Action = "diff", *, name: str = "lighter-callbacks") -> Fix:
    gain = bound(share, "callbacks take no time any more")
    return Fix(id=name, title=title, action=action, text=text, gain=gain, effort_minutes=15)
