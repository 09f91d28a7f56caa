"""The dynamic loader's cache of the system's libraries (/etc/ld.so.cache), read under a machine root.

Running `ldconfig -p` would need no parser, costs a process, and speaks of this machine whatever the root. Without a cache
file the folders of ld.so.conf stand in: what ldconfig would have put there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

MAGIC = b"glibc-ld.so.cache1.1"  # sysdeps/generic/dl-cache.h of glibc; an older format may stand before it
HEADER_BYTES, ENTRY_BYTES = 48, 24
MAX_CONFIG_FILES = 200  # includes may form a loop


class LoaderCache:
    """Looks up library names in the cache of one root; the file is read at the first question."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._data: bytes | None = None
        self._folders: tuple[str, ...] | None = None

    def paths(self, name: str) -> list[str]:
        """Return the files that the cache holds for the name, as written there. Never raises."""
        if self._data is None:
            self._data = self._read()
        if self._data:
            return list(_lookup(self._data, name.encode()))
        if self._folders is None:
            self._folders = tuple(dict.fromkeys(_configured(self._root)))
        return [f"{folder}/{name}" for folder in self._folders]

    def _read(self) -> bytes:
        try:
            data = (self._root / "etc/ld.so.cache").read_bytes()
        except OSError:
            return b""
        start = data.find(MAGIC)
        return data[start:] if start >= 0 else b""


def _lookup(data: bytes, name: bytes) -> Iterator[str]:
    if name + b"\0" not in data:  # a name may be the tail of its path, so nothing is sure to stand before it
        return  # the usual case with pip's libraries, a hundred times faster than the entries
    try:
        count: int = struct.unpack_from("<I", data, len(MAGIC))[0]
        table = data[HEADER_BYTES : HEADER_BYTES + count * ENTRY_BYTES]
        for _, key, value, _, _ in struct.iter_unpack("<iIIIQ", table):  # flags, name, path, OS version, hardware
            if data.startswith(name + b"\0", key):
                yield data[value : data.index(b"\0", value)].decode(errors="replace")
    except (struct.error, ValueError):
        return


def _configured(root: Path) -> Iterator[str]:
    """Yield the folders of ld.so.conf and what it includes."""
    pending = [root / "etc/ld.so.conf"]
    for _ in range(MAX_CONFIG_FILES):
        if not pending:
            return
        try:
            lines = pending.pop(0).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            words = line.partition("#")[0].split()
            if words[:1] == ["include"]:
                for pattern in words[1:]:
                    place = pattern.lstrip("/") if pattern.startswith("/") else f"etc/{pattern}"
                    pending.extend(sorted(root.glob(place)))
            elif words:
                yield words[0].partition("=")[0]
