"""Write a report where it was asked for; a place that cannot be written is an error that names the cure."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpudoctor.errors import OutputError


def emit(text: str, path: str | None, *, option: str = "-o") -> None:
    """Write to the file, or to stdout. Raises OutputError."""
    if path is None or path == "-":
        _to_stdout(text)
    else:
        write_file(path, text, option=option)


def _to_stdout(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    _guarded(lambda: sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding)))


def flush() -> None:
    """Send what was written to stdout on its way. Raises OutputError, or BrokenPipeError where nobody reads any more."""
    _guarded(sys.stdout.flush)


def _guarded(write: Callable[[], object]) -> None:
    try:
        write()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"stdout: cannot be written ({error.strerror or error}); choose a file with -o") from error


def write_file(path: str, text: str, *, option: str = "-o") -> None:
    """Write the file whole, or leave what was there untouched. Raises OutputError, naming the option that chose the place."""
    target = Path(path)
    with _named(path, option):
        if _is_special(target):
            target.write_text(text, encoding="utf-8")
            return
        with _scratch(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
            scratch.replace(target)


def check_place(path: str, *, option: str) -> None:
    """Raise OutputError where `write_file` could not write now: before long work instead of after it. Leaves no trace."""
    target = Path(path)
    with _named(path, option):
        if _is_special(target):
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        with _scratch(target) as scratch:
            scratch.touch()


def _is_special(target: Path) -> bool:
    """Return whether it is a folder, device or pipe (`-o /dev/stderr`), which must not be replaced."""
    return target.exists() and not target.is_file()


@contextmanager
def _scratch(target: Path) -> Generator[Path, None, None]:
    """Give the place beside a file where it is written first; nothing of it is left."""
    scratch = target.with_name(f".{target.name}.part")
    try:
        yield scratch
    finally:
        with suppress(OSError):
            scratch.unlink()


@contextmanager
def _named(path: str, option: str) -> Generator[None, None, None]:
    """Turn what the system says into an error with the place and the option that chose it."""
    try:
        yield
    except (OSError, ValueError) as error:  # a ValueError: a name that no file can have
        why = error.strerror or error if isinstance(error, OSError) else error
        raise OutputError(f"{path}: cannot be written ({why}); choose another place with {option}") from error
