"""Files in a folder that Python would import in place of what TensorFlow needs: a script's own folder comes first."""

from __future__ import annotations

import os
from pathlib import Path

from gpudoctor.knowledge.import_names import PACKAGES, STANDARD


def shadowing(folder: Path) -> tuple[str, ...]:
    """Return the names of such files and packages ("random.py", "numpy/"), sorted. Never raises.

    A folder without __init__.py shadows nothing: a real package further down the path wins over it.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208  # names only
    except OSError:
        return ()
    found: list[str] = []
    for name in sorted(names):
        stem, dot, suffix = name.partition(".")
        if stem not in PACKAGES and stem not in STANDARD:
            continue
        if dot and suffix == "py":
            found.append(name)
        elif not dot and (folder / name / "__init__.py").is_file():
            found.append(f"{name}/")
    return tuple(found)
