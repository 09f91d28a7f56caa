"""Names, versions and paths of a snapshot as words of a shell command: a stranger's snapshot must not write the command."""

from __future__ import annotations

import re

from gpudoctor.sdk import shell_path

NO_REQUIREMENT = re.compile(r"[^A-Za-z0-9_.+<>=!~,*-]")
PACKAGE_FOLDER = re.compile(r"(?:/|~/)(?:[^\x00-\x1f]*/)?(?:site|dist)-packages/tensorflow")


def requirement(text: str) -> str:
    """Return a requirement in quotes, whatever no requirement can hold left out; '' in quotes, which pip refuses, for an option.

    Quotes do not help against a leading dash: '-rhttp...' and '--pre' are options to pip all the same.
    """
    kept = NO_REQUIREMENT.sub("", text)
    return f"'{kept}'" if kept[:1].isalnum() else "''"


def package_folder(path: str) -> str:
    """Return the path of a package folder as one word, '' for any other place: nothing else may ever be removed."""
    if PACKAGE_FOLDER.fullmatch(path) is None or ".." in path.split("/"):
        return ""
    return shell_path(path)
