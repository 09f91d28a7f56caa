"""What is begun before the rest is imported: the interpreter that is examined starts on another CPU meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from gpudoctor.collect import target


def begin(python: str | None) -> None:
    """Start it; what is wrong with it is said by who needs it."""
    root = Path(os.environ.get("GPUDOCTOR_SYSROOT") or "/")
    target.begin(python, environ=os.environ, folder=Path.cwd(), proc=root / "proc")
