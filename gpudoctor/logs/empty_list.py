"""Reads the empty list with which a session answers the question for GPUs, in the line after the question."""

from __future__ import annotations

import re

from gpudoctor.model.observed import LogEvent

ANCHOR = "list_physical_devices("
NONE = re.compile(
    r"[^\n]{0,200}?list_physical_devices\((?:device_type=)?['\"]GPU['\"]\)\)?['\"]?[^\S\n]{0,8}\n(?:Out ?\[\d{1,4}\]: ?)?\[\][^\S\n]{0,8}(?:\n|\Z)"
)


def none_listed(block: str, start: int, line: int) -> LogEvent | None:
    """Return that TensorFlow lists no GPU where the line at `start` asks for them and the next one is an empty list."""
    if NONE.match(block, start) is None:
        return None
    return LogEvent(kind="visible_gpus", text="list_physical_devices('GPU'): []", values={"count": "0"}, line=line)
