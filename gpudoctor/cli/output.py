"""Write a report where it was asked for; a place that cannot be written is an error that names the cure."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from gpudoctor.errors import OutputError


def emit(text: str, path: str | None) -> None:
    """Write to the file, or to stdout. Raises OutputError."""
    if path is None or path == "-":
        _to_stdout(text)
    else:
        write_file(path, text)


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
    if target.exists() and not target.is_file():
        _into_special(target, text, option)
        return
    scratch = target.with_name(f".{target.name}.part")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(target)
    except OSError as error:
        scratch.unlink(missing_ok=True) if target.parent.is_dir() else None
        raise OutputError(
            f"{path}: cannot be written ({error.strerror or error}); choose another place with {option}"
        ) from error


def _into_special(target: Path, text: str, option: str) -> None:
    """Write into a device or pipe (`-o /dev/stderr`), which must not be replaced."""
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{target}: cannot be written ({error.strerror or error}); choose another place with {option}"
        ) from error
