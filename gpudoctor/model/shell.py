"""A path as one word of a POSIX shell's command, for fixes that somebody copies."""

from __future__ import annotations

import shlex


def shell_path(path: str) -> str:
    """Return the path quoted; a leading ~/ stays outside of the quotes, or the shell would not take it for the home folder."""
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)
