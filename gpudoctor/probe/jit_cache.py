"""Tells a PTX compilation from a hang: the driver's compute cache grows, or TensorFlow has said that it will take long.

The driver writes each compiled kernel into the cache when it is done, so growth is progress that no other sign shows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# CUDA C++ Programming Guide, environment variables: CUDA_CACHE_PATH, default ~/.nv/ComputeCache on Linux.
VARIABLE = "CUDA_CACHE_PATH"
DEFAULT = "~/.nv/ComputeCache"
# TensorFlow's own line, gpu_device.cc: the words that all releases since 2.2 share.
LINE = "which could take 30 minutes or longer"
MOST_FILES = 20_000  # the cache holds at most some thousand; a folder that is none must not be walked for ever


class JitWatch:
    """Looks at one child: whether it announced a compilation, and whether the cache has grown since the last look."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Remember the size of the cache as it is now."""
        self._folder = Path(environment.get(VARIABLE) or Path(DEFAULT).expanduser())
        self._seen = _size(self._folder)
        self.grew = False

    def is_compiling(self, text: str) -> bool:
        """Return whether PTX is being compiled; the line alone stands for it, as the first kernel takes minutes too."""
        size = _size(self._folder)
        grew, self._seen = size > self._seen, size
        self.grew = self.grew or grew
        return grew or LINE in text


def _size(folder: Path) -> int:
    total, files, folders = 0, 0, [str(folder)]
    while folders and files < MOST_FILES:
        for entry in _entries(folders.pop()):
            files += 1
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                total += _file_size(entry)
    return total


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _file_size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:  # the driver has replaced it
        return 0
