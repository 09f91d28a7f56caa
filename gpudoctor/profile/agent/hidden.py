"""Keep our frames out of what a person reads: tracebacks, TensorFlow's own error texts, places of warnings.

A wrapper cannot be called without a frame. Its file name puts it beside the function that it wraps, so that the filters of
TensorFlow and Keras treat it as theirs, and makes Python pass over it where a warning counts frames (`stacklevel`). An
exception leaves it without a trace from Python 3.11 on (`unseen`); for older ones what Python prints of an uncaught one is
cleaned. A stack that is printed passes over it.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import places

F = TypeVar("F", bound=Callable[..., Any])
codes: set[Any] = set()
files: set[str] = set()
on_new_file: list[Callable[[], None]] = []
MOST_CHAINED = 50
# A frame whose file name holds both words does not count for `stacklevel`: is_internal_frame in CPython's Python/_warnings.c
# and Lib/warnings.py (3.3 on), _is_internal_frame in Lib/logging (3.11 on). `skip_file_prefixes` is the caller's to give.
UNCOUNTED = "importlib_bootstrap_"


def hide(wrapper: F, original: Any) -> F:
    """Return the wrapper, its code under a name beside the original's file, and with the original's arguments."""
    own: Any = wrapper
    if not hasattr(original, "__wrapped__"):  # `inspect.getfullargspec` does not look behind a wrapper
        with suppress(TypeError, ValueError):  # of a function in C
            own.__signature__ = inspect.signature(original)
    theirs: Any = getattr(original, "__code__", None)
    if theirs is not None and hasattr(own.__code__, "replace"):
        place: str = theirs.co_filename
        folder, name = os.path.split(place)
        file = os.path.join(folder, UNCOUNTED + name)
        own.__code__ = own.__code__.replace(co_filename=file)
        codes.add(own.__code__)
        if file not in files:
            files.add(file)
            for each in on_new_file:
                each()
    return wrapper


class _Unseen:
    """Takes the frame around it out of the traceback of an exception that passes.

    Only here it can be done: `raise` would add the frame again, the end of a `with` does not (RERAISE in Python/bytecodes.c; up
    to 3.10 it restores the traceback that it saved before).
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error is not None and traceback is not None:
            error.__traceback__ = traceback.tb_next


unseen = _Unseen()


def clean(error: Any) -> None:
    """Take our frames out of an exception's traceback, and out of those that it came from."""
    seen: set[int] = set()
    waiting = [error]
    while waiting and len(seen) < MOST_CHAINED:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _without_ours(each.__traceback__)
        waiting += [each.__cause__, each.__context__]


def _without_ours(head: Any) -> Any:
    while head is not None and head.tb_frame.f_code in codes:
        head = head.tb_next
    link = head
    while link is not None:
        while link.tb_next is not None and link.tb_next.tb_frame.f_code in codes:
            link.tb_next = link.tb_next.tb_next
        link = link.tb_next
    return head


def install() -> None:
    """Clean what the interpreter prints for exceptions that nobody catches."""
    main, thread = sys.excepthook, threading.excepthook

    def uncaught(kind: Any, error: Any, traceback: Any) -> None:
        try:
            clean(error)
            traceback = _without_ours(traceback)
        except Exception:
            pass
        main(kind, error, traceback)

    def uncaught_in_thread(told: Any) -> None:
        try:
            clean(told.exc_value)
            told = threading.ExceptHookArgs(
                (told.exc_type, told.exc_value, _without_ours(told.exc_traceback), told.thread)
            )
        except Exception:
            pass
        thread(told)

    sys.excepthook, threading.excepthook = uncaught, uncaught_in_thread
    _pass_over_in_stacks()


def _pass_over_in_stacks() -> None:
    """Have the stack that a script prints (`traceback.print_stack`, `stack_info` of logging) pass over our frames."""
    import traceback  # TensorFlow loads it; a Python without TensorFlow need not

    original: Any = traceback.walk_stack

    @functools.wraps(original)
    def walk_stack(f: Any) -> Any:
        return filter(_theirs, original(f))  # no generator: where `f` is None, the original counts the frames above it

    traceback.walk_stack = walk_stack


def _theirs(place: Any) -> bool:
    return place[0].f_code not in codes


def hook(module: Any) -> None:
    """Have TensorFlow's deprecation warnings name the user's line, not ours."""
    original = getattr(module, "_call_location", None)
    if original is None:
        return

    def location(outer: bool = False) -> str:
        frame = _next(places.frame_at(2))
        if outer and frame is not None:
            frame = _next(frame.f_back) or frame
        return original(outer) if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"

    module._call_location = location


def _next(frame: Any) -> Any:
    while frame is not None and frame.f_code in codes:
        frame = frame.f_back
    return frame
