"""The file systems under the folders that training is likely to read, from the kernel's table of mounts.

The folders themselves are never touched: `statfs` would tell the same, and hangs for as long as a file server is away.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpudoctor.model.machine import Storage
from gpudoctor.model.missing import Maybe, Missing

WORKING_FOLDER = "working folder"
DATA_VARIABLES = ("TFDS_DATA_DIR", "KERAS_HOME")  # where TensorFlow Datasets and Keras keep downloaded data
ESCAPE = re.compile(r"\\([0-7]{3})")  # proc_pid_mountinfo(5): blank, tab, line end and backslash are octal
TYPE_AFTER = " - "  # the separator of the optional fields, same page


def read_storage(root: Path, environ: Mapping[str, str]) -> Maybe[tuple[Storage, ...]]:
    """Return the file system of the working folder and of data folders that variables name. Never raises."""
    try:
        table = (root / "proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return Missing(f"/proc/self/mountinfo: {error.strerror}")
    mounts = dict(_mounts(table))  # of several on one place the last one is seen
    found = ((name, _of(folder, mounts)) for name, folder in _folders(environ))
    return tuple(Storage(folder=name, filesystem=kind) for name, kind in found if kind)


def _folders(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    try:
        yield WORKING_FOLDER, os.getcwd()  # noqa: PTH109  # a text is wanted
    except OSError:
        return
    for name in DATA_VARIABLES:
        if environ.get(name, "").startswith("/"):
            yield name, environ[name]


def _mounts(table: str) -> Iterator[tuple[str, str]]:
    for line in table.splitlines():
        before, _, after = line.partition(TYPE_AFTER)
        words = before.split()
        if len(words) > 4 and after:
            yield ESCAPE.sub(lambda match: chr(int(match[1], 8)), words[4]), after.split()[0]


def _of(folder: str, mounts: Mapping[str, str]) -> str:
    place = os.path.normpath(folder)
    while place not in mounts and place != "/":
        place = os.path.dirname(place)  # noqa: PTH120  # texts only, see above
    return mounts.get(place, "")
