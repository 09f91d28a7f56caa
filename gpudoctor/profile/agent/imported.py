"""TensorFlow is imported: note versions and the time it took, and at the end whether it was used in a way that nothing here sees.

Nothing is called that could initialise a device.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from . import core, tables

SESSIONS = "it runs TensorFlow 1 graphs in sessions, whose steps are not recorded"


def hook(module: Any) -> None:
    """Tell it at once: a script may crash right behind its imports."""
    now = time.time()
    core.emit(
        "processes",
        tensorflow_version=str(getattr(module, "__version__", "")),
        imported_at=now,
        import_s=now - core.process.begun.get("tensorflow", now),
        argv=[str(each) for each in getattr(sys, "argv", [])],
    )
    core.flush()


def _end() -> None:
    context = tables.loaded("eager.context")
    if context is not None and not context.executing_eagerly():
        core.emit("processes", limits=[SESSIONS])


core.before_end.append(_end)
