"""How often the user's own lines ask an eager tensor for its value: on a GPU each of these waits for the device."""

from __future__ import annotations

import functools
import time
from typing import Any, Tuple

from . import core, hidden, places

METHODS = ("numpy", "__float__", "__int__", "__bool__", "__array__", "__index__")
MOST_LINES = 500
Key = Tuple[Any, int, str]  # code, line, method
_lines: dict[tuple[Any, int, str], list[float]] = {}


def hook(module: Any) -> None:
    """Replace the methods on the Python base class of eager tensors."""
    kind = getattr(module, "_EagerTensorBase", None)
    for name in METHODS:
        original = getattr(kind, "__dict__", {}).get(name)
        if callable(original):
            setattr(kind, name, _counted(original, name))


def _counted(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        key, start = _key(name), time.perf_counter()
        try:
            with hidden.unseen:
                return original(self, *args, **kwargs)
        finally:
            if key is not None:
                _count(key, time.perf_counter() - start)

    return hidden.hide(ask, original)


def _key(name: str) -> Key | None:
    """Return the asking line, where it is the user's own; a library's asking is the library's business."""
    try:
        frame = places.frame_at(2)
        if core.process.off or places.kind_of(frame.f_code.co_filename) != places.USER:
            return None
    except Exception:
        return None
    return frame.f_code, frame.f_lineno, name


def _count(key: Key, seconds: float) -> None:
    sums = _lines.get(key)
    if sums is None:
        if len(_lines) >= MOST_LINES:
            return
        sums = _lines[key] = [0, 0.0, 0]
    sums[0] += 1
    sums[1] += seconds


def _beat() -> None:
    for (code, line, name), sums in list(_lines.items()):
        if sums[0] != sums[2]:
            sums[2] = sums[0]
            core.emit(
                "syncs",
                file=places.absolute(code.co_filename),
                line=line,
                method=name,
                function=code.co_name,
                count=int(sums[0]),
                seconds_s=sums[1],
            )


core.every_beat.append(_beat)
core.after_fork.append(_lines.clear)
