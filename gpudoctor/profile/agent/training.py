"""What a training loop of the user's own calls each step: functions of tf.function, gradients of a tape, updates of an optimizer.

Inside a function all of it runs once, when it is traced; then the outermost call is what comes again each step, and what was
traced in it tells whether it trains. What is known of a function is kept beside it, never on it: it may be pickled or saved.
"""

from __future__ import annotations

import _thread
import functools
import time
import weakref
from typing import Any

from . import core, hidden, places, profiler_session, step_parts
from .step_parts import FUNCTION, GRADIENT, TAPE, UPDATE
from .tables import tensorflow_module

METHODS = {GRADIENT: "gradient", UPDATE: "apply_gradients"}
TRACING = ("get_concrete_function",)  # traces without a call
OPTIMIZERS = {"BaseOptimizer": "apply", "Optimizer": "apply_gradients", "OptimizerV2": "apply_gradients"}


class Mark:
    """What is known of one function, or of a call under way. `aside`: Keras's loops call it."""

    __slots__ = ("aside", "counts", "fetches", "holds", "kind", "name", "reference")

    def __init__(self, kind: str, name: str, reference: Any = None) -> None:
        self.kind, self.name, self.reference = kind, name, reference
        self.holds = ""
        self.aside = self.counts = self.fetches = False


marks: dict[int, Mark] = {}
under_way: dict[int, Mark] = {}  # by thread


def hook(module: Any) -> None:
    """Replace what this module defines of it."""
    name = module.__name__.rpartition(".")[2]
    if name == "polymorphic_function":
        kind = module.Function
        kind.__call__ = _function(kind.__call__, counted=True)
        for each in TRACING:
            if callable(kind.__dict__.get(each)):
                setattr(kind, each, _function(kind.__dict__[each], counted=False))
    elif name == "concrete_function":
        module.ConcreteFunction.__call__ = _function(module.ConcreteFunction.__call__, counted=True)
    elif name == "backprop":
        kind = module.GradientTape
        kind.gradient = _eager(kind.gradient, GRADIENT)
        kind.__enter__, kind.__exit__ = _entered(kind.__enter__), _left(kind.__exit__)
    else:
        for each, method in OPTIMIZERS.items():
            kind = module.__dict__.get(each)
            if isinstance(kind, type) and kind.__module__ == module.__name__ and callable(kind.__dict__.get(method)):
                setattr(kind, method, _eager(kind.__dict__[method], UPDATE))


def fetches_inside() -> None:
    """Note that what is being traced fetches batches itself."""
    for each in _traced():
        each.fetches = True


def _traced() -> list[Mark]:
    """Return the call that this thread is in; in a thread of a strategy's, for each replica has one, all that are under way."""
    mark = under_way.get(_thread.get_ident())
    return [mark] if mark is not None else list(under_way.values())


def _function(original: Any, *, counted: bool) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwds: Any) -> Any:
        thread = _thread.get_ident()
        mark = None if core.process.off or thread in under_way else marks.get(id(self)) or _new_mark(self)
        if mark is None or mark.aside:
            with hidden.unseen:
                return original(self, *args, **kwds)
        under_way[thread] = mark
        start = time.perf_counter()
        try:
            with hidden.unseen, profiler_session.part(counts=mark.counts):
                result = original(self, *args, **kwds)
        finally:
            under_way.pop(thread, None)
        if not counted:
            _made(result, mark)
        else:
            _ended(mark, time.perf_counter() - start, places.frame_at(0).f_back)
        return result

    return hidden.hide(call, original)


def _new_mark(function: Any) -> Mark | None:
    """Begin to keep what is known of a function, as long as it lives."""
    try:
        number = id(function)
        reference = weakref.ref(function, lambda _: marks.pop(number, None))
        name = getattr(function, "_name", "") or getattr(getattr(function, "graph", None), "name", "")
        marks[number] = Mark(FUNCTION, str(name), reference)
    except Exception as error:
        core.note_fault("training", error)
    return marks.get(id(function))


def _made(concrete: Any, mark: Mark) -> None:
    """Note that a function's one graph was handed out, which may be called by itself."""
    known = marks.get(id(concrete)) or _new_mark(concrete)
    if known is not None:
        known.name, known.holds, known.fetches = mark.name, mark.holds, mark.fetches


def _eager(original: Any, kind: str) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        thread = _thread.get_ident()
        mark = None if core.process.off else _begun(kind, self, thread)
        if mark is None:
            with hidden.unseen:
                return original(self, *args, **kwargs)
        start = time.perf_counter()
        try:
            with hidden.unseen, profiler_session.part(counts=step_parts.parts.fetches == 0):
                result = original(self, *args, **kwargs)
        finally:
            under_way.pop(thread, None)
        _ended(mark, time.perf_counter() - start, places.frame_at(0).f_back)
        return result

    return hidden.hide(call, original)


class Taped:
    """The outermost tape that records in a thread: when it began, and how long the thread had been inside of parts then."""

    __slots__ = ("inside", "scope", "start", "tape")

    def __init__(self, tape: Any, inside: float) -> None:
        self.tape = id(tape)  # never the tape itself: it holds much
        self.inside, self.start = inside, time.perf_counter()
        self.scope = profiler_session.part(counts=False)
        self.scope.__enter__()


taped: dict[int, Taped] = {}  # by thread


def _entered(original: Any) -> Any:
    @functools.wraps(original)
    def enter(self: Any) -> Any:
        thread = _thread.get_ident()
        try:
            if not core.process.off and thread not in under_way and thread not in taped and _eagerly():
                taped[thread] = Taped(self, step_parts.parts.inside.get(thread, 0.0))
        except Exception as error:
            core.note_fault("training", error)
        with hidden.unseen:
            return original(self)

    return hidden.hide(enter, original)


def _left(original: Any) -> Any:
    @functools.wraps(original)
    def leave(self: Any, *error: Any) -> Any:
        thread = _thread.get_ident()
        known = taped.get(thread)
        if known is not None and known.tape == id(self):
            _untaped(known, thread, places.frame_at(0).f_back)
        with hidden.unseen:
            return original(self, *error)

    return hidden.hide(leave, original)


def _untaped(known: Taped, thread: int, frame: Any) -> None:
    """Count what ran under a tape; the parts that were called there have been."""
    try:
        taped.pop(thread, None)
        known.scope.__exit__(None, None, None)
        parts_s = step_parts.parts.inside.get(thread, 0.0) - known.inside
        left_s = max(0.0, time.perf_counter() - known.start - parts_s)
        step_parts.called(frame, TAPE, "GradientTape", "", left_s)
    except Exception as error:
        core.note_fault("training", error)


def _eagerly() -> bool:
    return bool(tensorflow_module("eager.context").executing_eagerly())


def _begun(kind: str, owner: Any, thread: int) -> Mark | None:
    """Return the call that begins here; None inside of another one, which is told what it holds."""
    try:
        if thread not in under_way and _eagerly():
            mark = under_way[thread] = Mark(kind, f"{type(owner).__name__}.{METHODS[kind]}")
            return mark
        for each in _traced():
            if kind not in each.holds:
                each.holds = f"{each.holds} {kind}".strip()
    except Exception as error:
        core.note_fault("training", error)
    return None


def _ended(mark: Mark, seconds: float, frame: Any) -> None:
    """Note a call that has ended. `frame`: who called, None where that is no Python (a thread that `_thread` began)."""
    try:
        if mark.fetches:
            step_parts.fetched()
        part = step_parts.called(frame, mark.kind, mark.name, mark.holds, seconds)
        if part is not None:
            mark.aside, mark.counts = not part.own, part.unfed and part.own and bool(mark.holds)
    except Exception as error:
        core.note_fault("training", error)


def _forget() -> None:
    under_way.clear()
    taped.clear()


core.after_fork.append(_forget)
