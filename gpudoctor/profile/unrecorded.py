"""Python processes of the command in which the recorder is not: the one that trains may be among them.

Without looking, "TensorFlow was never imported" would be said of a launcher whose child, started with a cleared environment,
trains for hours.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

from gpudoctor.profile.spool import identity

PATIENCE = 2  # looks: the recorder says hello within the first tenth of a second of a process
MOST = 20
LONGEST = 200  # characters of a command line


class Unrecorded:
    """Looks once a second; `new` returns each process once."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._told = 0

    def new(self, tree: Collection[int], known: Collection[str]) -> list[str]:
        """Return the command lines of the Python processes among these that have been silent for some looks."""
        found: list[str] = []
        for each in tree:
            if self._told >= MOST or not _is_python(each):
                continue
            name = identity(each)
            if name in known:
                continue
            self._seen[name] = self._seen.get(name, 0) + 1
            if self._seen[name] == PATIENCE:
                self._told += 1
                found.append(_words(each))
        return found


def _is_python(pid: int) -> bool:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith(("python", "pypy"))  # noqa: PTH115, PTH119
    except OSError:
        return False


def _words(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
        return file.read().replace(b"\0", b" ").decode(errors="replace").strip()[:LONGEST]
    return "python"
