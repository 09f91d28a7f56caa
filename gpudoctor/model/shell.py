"""Paths as words of a POSIX shell's command, for fixes that somebody copies."""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def shell_path(path: str) -> str:
    """Return the path quoted; a leading ~ stays outside of the quotes, or the shell would not take it for the home folder."""
    if path == "~":
        return path
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)


def search_path(folders: Iterable[str]) -> str:
    """Return the value of a variable like PATH; folder by folder, for a shell takes the ~ behind each colon for home, too."""
    return ":".join(map(shell_path, folders))
