"""A file's name promises a format; what is written under it must be of that format."""

from __future__ import annotations

from pathlib import Path

from gpudoctor.errors import UsageError
from gpudoctor.model.shell import shell_path


def keep_promise(path: str, endings: tuple[str, ...], *, what: str, option: str) -> None:
    """Raise UsageError for a name that promises another format; one without an ending, or ending in a date, promises none.

    The first of the endings is the one that is proposed.
    """
    ending = Path(path).suffix
    if any(each.isalpha() for each in ending) and not path.lower().endswith(endings):
        cure = f"{path.removesuffix(ending).removesuffix('.tar')}{endings[0]}"
        raise UsageError(f"{path}: {what}, not {ending}; give {option} {shell_path(cure)}")
