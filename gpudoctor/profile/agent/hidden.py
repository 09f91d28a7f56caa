"""Keep our frames out of what a person reads: tracebacks, TensorFlow's own error texts, places of deprecation warnings.

A wrapper cannot be called without a frame. It takes on the file name of the function that it wraps, so that the filters of
TensorFlow and Keras treat it as theirs, and what Python prints for an uncaught exception is cleaned by its code object.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, TypeVar

from . import places

F = TypeVar("F", bound=Callable[..., Any])
codes: set[Any] = set()
MOST_CHAINED = 50


def hide(wrapper: F, original: Any) -> F:
    """Return the wrapper, its code under the original's file name."""
    own: Any = wrapper
    theirs = getattr(original, "__code__", None)
    if theirs is not None and hasattr(own.__code__, "replace"):
        own.__code__ = own.__code__.replace(co_filename=theirs.co_filename)
        codes.add(own.__code__)
    return wrapper


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
