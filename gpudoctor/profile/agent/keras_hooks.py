"""Keras's own borders: when fit, epochs and validations begin and end, and the `*_on_batch` calls.

Nothing here runs per step of `fit`: borders come once an epoch, and at each the counters are read, so that steps of a shared
trace can be told apart by phase.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from . import core, hidden, losses, phases, pipeline, places, profiler_session, settings, tables


def hook(module: Any) -> None:
    """Replace the methods of the callback list or of the trainer, whichever this module defines."""
    for name in ("CallbackList", "TensorFlowTrainer", "Model"):
        kind = module.__dict__.get(name)
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            if name == "CallbackList":
                _hook_borders(kind)
                losses.hook(kind)
            else:
                _hook_calls(kind)


def _train_begin(callbacks: Any, *_: Any) -> None:
    phases.leave_all()
    phases.begin("fit", model=getattr(callbacks, "_model", None) or getattr(callbacks, "model", None))
    params: Any = getattr(callbacks, "params", None) or {}
    steps = params.get("steps")
    settings.tell("process", "fit_steps", "until the data end" if steps is None else int(steps))
    losses.began(*places.here(1)[:2])


def _epoch_begin(_: Any, epoch: Any = 0, *__: Any) -> None:
    phases.begin("epoch", int(epoch))
    phases.begin("epoch_begin", int(epoch))
    losses.epoch_began(int(epoch))


def _test_begin(callbacks: Any, *_: Any) -> None:
    pipeline.poll()
    inside = phases.inside("fit")
    phases.begin("validation" if inside else "evaluate", model=None if inside else getattr(callbacks, "_model", None))


def _test_end(*_: Any) -> None:
    pipeline.poll()
    phases.finish("validation" if phases.inside("validation") else "evaluate")


def _epoch_end(_: Any, epoch: Any = 0, *__: Any) -> None:
    pipeline.poll()
    phases.begin("epoch_end", int(epoch))


def _epoch_ended(*_: Any) -> None:
    phases.finish("epoch_end")
    phases.finish("epoch")


def _predict_begin(callbacks: Any, *_: Any) -> None:
    phases.begin("predict", model=getattr(callbacks, "_model", None))


BEFORE: dict[str, Callable[..., None]] = {
    "on_train_begin": _train_begin,
    "on_epoch_begin": _epoch_begin,
    "on_test_begin": _test_begin,
    "on_test_end": _test_end,
    "on_epoch_end": _epoch_end,
    "on_predict_begin": _predict_begin,
}
AFTER: dict[str, Callable[..., None]] = {
    "on_epoch_begin": lambda *_: phases.finish("epoch_begin"),
    "on_epoch_end": _epoch_ended,
    "on_train_end": lambda *_: phases.finish("fit"),
    "on_predict_end": lambda *_: phases.finish("predict"),
}


def _hook_borders(kind: type) -> None:
    for name in {**BEFORE, **AFTER}:
        original = kind.__dict__.get(name)
        if callable(original):
            setattr(kind, name, _around(original, BEFORE.get(name), AFTER.get(name)))


def _around(original: Any, before: Callable[..., None] | None, after: Callable[..., None] | None) -> Any:
    @functools.wraps(original)
    def border(self: Any, *args: Any, **kwargs: Any) -> Any:
        _told(before, self, args)
        try:
            with hidden.unseen:
                return original(self, *args, **kwargs)
        finally:
            _told(after, self, args)

    return hidden.hide(border, original)


def _told(function: Callable[..., None] | None, self: Any, args: Any) -> None:
    if function is None or core.process.off:
        return
    try:
        function(self, *args)
    except Exception as error:
        core.note_fault("borders", error)


def _hook_calls(kind: type) -> None:
    for name in places.CALLS:
        original = kind.__dict__.get(name)
        if callable(original):
            setattr(kind, name, _counted(original, name))
    for name in ("fit", "evaluate", "predict"):
        original = kind.__dict__.get(name)
        if callable(original):
            setattr(kind, name, _whole(original, name))


def _whole(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:  # as Keras's own wrapper around it is declared
        if core.process.off:
            with hidden.unseen:
                return original(*args, **kwargs)
        entered = phases.enter(name)
        try:
            with hidden.unseen:
                return original(*args, **kwargs)
        finally:
            core.quietly(functools.partial(phases.leave, entered))

    return hidden.hide(call, original)


def _counted(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if core.process.off:
            with hidden.unseen:
                return original(*args, **kwargs)
        start = time.perf_counter()
        with hidden.unseen, profiler_session.step():
            result = original(*args, **kwargs)
        try:
            _count(args[0], name, time.perf_counter() - start, places.frame_at(1))
            if name == "train_on_batch":
                losses.returned(result, places.frame_at(1))
        except Exception as error:
            core.note_fault("calls", error)
        return result

    return hidden.hide(call, original)


def _count(model: Any, name: str, seconds: float, frame: Any) -> None:
    key = (name, frame.f_code, frame.f_lineno)
    loop = tables.tables.by_key.get(key)
    if loop is None:
        file, line, function, _ = places.above(frame)
        settings.of_model(model)
        loop = tables.new_loop(in_graph=False, label=name, kind="call", file=file, line=line, function=function)
        if loop is None:
            return
        loop.wait, loop.inside = None, 0.0
        tables.tables.by_key[key] = loop
    loop.count += 1
    loop.inside = (loop.inside or 0.0) + seconds
    loop.ends = (loop.ends or 0.0) + time.time() - loop.made_at
