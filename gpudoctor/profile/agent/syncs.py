"""How often the user's own lines ask an eager tensor for its value: on a GPU each of these waits for the device."""

from __future__ import annotations

import functools
import time
from typing import Any

from . import core, places

METHODS = ("numpy", "__float__", "__int__", "__bool__", "__array__", "__index__")
MOST_LINES = 500
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
        frame = places.frame_at(1)  # the caller, which must be the user's own line to count
        if core.process.off or places.kind_of(frame.f_code.co_filename) != places.USER:
            return original(self, *args, **kwargs)
        start = time.perf_counter()
        try:
            return original(self, *args, **kwargs)
        finally:
            key = (frame.f_code, frame.f_lineno, name)
            sums = _lines.get(key)
            if sums is None and len(_lines) < MOST_LINES:
                sums = _lines[key] = [0, 0.0, 0]
            if sums is not None:
                sums[0] += 1
                sums[1] += time.perf_counter() - start

    return ask


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
