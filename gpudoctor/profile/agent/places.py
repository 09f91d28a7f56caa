"""Where in the user's code something happens: the innermost frame that is neither a library's nor ours."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any, Tuple

CALLS = ("train_on_batch", "test_on_batch", "predict_on_batch")  # counted as such: Keras 2 makes an iterator in each
LABELS = ("fit", "evaluate", "predict", *CALLS)
USER, LIBRARY, KERAS, DISTRIBUTE = 0, 1, 2, 3
OURS = os.path.dirname(os.path.abspath(__file__))
STANDARD = tuple(
    {os.path.abspath(each) + os.sep for key in ("stdlib", "platstdlib") if (each := sysconfig.get_paths().get(key))}
)
PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
DISTRIBUTED_INPUT = os.path.join("tensorflow", "python", "distribute", "input_lib.py")  # one fetch for each replica
GENERATED = "__autograph_generated_file"  # a user's function as autograph wrote it anew
KERAS_FOLDERS = ("keras" + os.sep, "tf_keras" + os.sep)

Place = Tuple[str, int, str, str]  # file, line, function, label
FetchPlace = Tuple[str, int, str, str, bool]  # ... and whether a strategy fetches, once for each replica

frame_at = sys._getframe  # pyright: ignore[reportPrivateUsage]  # the one way to the stack
_kinds: dict[str, int] = {}
_absolute: dict[str, str] = {}


def kind_of(file: str) -> int:
    """Return whose file it is, as a code object names it."""
    kind = _kinds.get(file)
    if kind is None:
        kind = _kinds[file] = _kind(file)
    return kind


def _kind(file: str) -> int:
    for packages in PACKAGES:
        if packages in file:
            inside = file.rpartition(packages)[2]
            if inside == DISTRIBUTED_INPUT:
                return DISTRIBUTE
            return KERAS if inside.startswith(KERAS_FOLDERS) else LIBRARY
    if file.startswith(OURS) or file.startswith(STANDARD) or GENERATED in file:
        return LIBRARY
    if file.startswith("<") and file not in {"<stdin>", "<string>"}:
        return USER if file.startswith("<ipython") else LIBRARY
    return USER


def absolute(file: str) -> str:
    """Return the file with its folder, as it was when first seen."""
    path = _absolute.get(file)
    if path is None:
        path = _absolute[file] = file if file.startswith("<") else os.path.abspath(file)
    return path


def here(depth: int = 1) -> Place:
    """Return the user's line that led here, and Keras's method on the way (`loop` where there is none)."""
    return above(frame_at(depth + 1))  # the documented way to the stack


def of_fetch(depth: int) -> FetchPlace:
    """Return the user's line that fetches a batch, and whether a strategy fetches for it."""
    frame, replicated = frame_at(depth + 1), False
    upper: Any = frame
    while upper is not None and kind_of(upper.f_code.co_filename) != USER:
        replicated = replicated or kind_of(upper.f_code.co_filename) == DISTRIBUTE
        upper = upper.f_back
    return (*above(frame), replicated)


def above(frame: Any | None) -> Place:
    """Return the same, from a frame upwards."""
    label = ""
    while frame is not None:
        code = frame.f_code
        kind = kind_of(code.co_filename)
        if kind == USER:
            return absolute(code.co_filename), frame.f_lineno, code.co_name, label or "loop"
        if kind == KERAS and not label and code.co_name in LABELS:
            label = code.co_name
        frame = frame.f_back
    return "", 0, "", label or "loop"


def of_function(function: Any) -> tuple[str, str, int]:
    """Return name, file and line of a function that was handed to TensorFlow; wrappers are looked through."""
    for _ in range(10):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        inner = inner or getattr(function, "_python_function", None) or getattr(function, "python_function", None)
        if inner is None or (
            getattr(function, "__code__", None) is not None and kind_of(function.__code__.co_filename) == USER
        ):
            break
        function = inner
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__call__", None), "__code__", None)  # noqa: B004  # its code
    name = str(getattr(function, "__qualname__", "") or type(function).__qualname__)
    return (name, absolute(code.co_filename), code.co_firstlineno) if code is not None else (name, "", 0)
