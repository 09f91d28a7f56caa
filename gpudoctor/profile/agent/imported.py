"""TensorFlow is imported: note versions and the time it took; nothing is called that could initialise a device."""

from __future__ import annotations

import sys
import time
from typing import Any

from . import core


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
