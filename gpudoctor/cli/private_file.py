"""Write a file that only its owner may read, where nothing was before: no link is followed, nothing is replaced by surprise."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from gpudoctor.errors import OutputError, UsageError

MODE = 0o600
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def check_place(path: str, *, overwrite: bool) -> None:
    """Raise where the file cannot be written, before a long examination instead of after it."""
    if path == "-":
        raise UsageError("-o -: what is packed is not written to stdout; choose a file with -o")
    target = Path(path)
    try:
        if target.is_dir() or not target.parent.is_dir():
            raise UsageError(f"{path}: not a file in an existing folder; choose another place with -o")
        if (target.is_symlink() or target.exists()) and not overwrite:
            raise UsageError(f"{path}: exists already; choose another name with -o, or give --overwrite")
        if target.exists() and not (target.is_file() or target.is_symlink()):
            raise UsageError(f"{path}: not a plain file; choose another place with -o")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path!r}: cannot be a file ({error}); choose another place with -o") from error


def write_private(path: str, data: bytes, *, overwrite: bool) -> None:
    """Write the file with mode 0600, whole or not at all. Raises OutputError.

    To overwrite means to put a new file in the place of the name: what a link there points to stays as it is.
    """
    target = Path(path)
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(4)}") if overwrite else target
    made = False
    try:
        number = os.open(scratch, CREATE, MODE)
        made = True
        with os.fdopen(number, "wb") as file:
            file.write(data)
        if overwrite:
            scratch.replace(target)
    except OSError as error:
        if made:
            scratch.unlink(missing_ok=True)
        raise OutputError(
            f"{path}: cannot be written ({error.strerror or error}); choose another place with -o"
        ) from error
