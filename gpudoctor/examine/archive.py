"""The support archive: a gzipped tar of a few texts. Read in memory and with limits; nothing is ever unpacked to disk.

Python's own `extractall(filter="data")` is safe against paths, but not against a small file that unpacks to gigabytes.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

from gpudoctor.codec import MAX_SNAPSHOT_BYTES
from gpudoctor.errors import SnapshotError

FOLDER = "gpudoctor-bundle"
SNAPSHOT = "snapshot.json"
MAX_UNPACKED_BYTES = 2 * MAX_SNAPSHOT_BYTES  # the snapshot stands in the report too
MAX_MEMBERS = 32  # an archive of ours holds five
SLICE_BYTES = 1 << 16
GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib's way of saying "with gzip's header"
DAMAGED = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError)


class _TooLargeError(Exception):
    """The archive unpacks to more than one of ours can."""


class _Unpacked(io.RawIOBase):
    """The unpacked bytes, up to the limit. The packed ones are fed in slices: zlib copies what it does not take yet."""

    def __init__(self, packed: bytes) -> None:
        super().__init__()
        self._unpacker = zlib.decompressobj(GZIP_WINDOW)
        self._packed = memoryview(packed)
        self._total = 0

    def readable(self) -> bool:
        """Return True: this is for reading."""
        return True

    def readinto(self, buffer: Any) -> int:  # any writable buffer; Python has a type for it from 3.12 on
        """Fill the buffer as far as one slice goes; 0 at the end."""
        chunk = b""
        while not chunk and (self._packed or self._unpacker.unconsumed_tail) and not self._unpacker.eof:
            chunk = self._unpacker.decompress(self._next_slice(), len(buffer))
        self._total += len(chunk)
        if self._total > MAX_UNPACKED_BYTES:
            raise _TooLargeError
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def _next_slice(self) -> bytes:
        if self._unpacker.unconsumed_tail:
            return self._unpacker.unconsumed_tail
        piece, self._packed = bytes(self._packed[:SLICE_BYTES]), self._packed[SLICE_BYTES:]
        return piece


def snapshot_in(data: bytes, *, name: str) -> bytes:
    """Return the snapshot inside an archive. Raises SnapshotError for anything that no archive of ours can be."""
    try:
        with tarfile.open(fileobj=io.BufferedReader(_Unpacked(data)), mode="r|") as archive:
            found = _find(archive)
    except _TooLargeError:
        raise SnapshotError(f"{name}: unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB; this is no bundle") from None
    except DAMAGED as error:
        raise SnapshotError(f"{name}: a damaged archive ({error}); make one with `gpudoctor bundle`") from error
    if found is None:
        raise SnapshotError(f"{name}: no {FOLDER}/{SNAPSHOT} in this archive; make one with `gpudoctor bundle`")
    return found


def _find(archive: tarfile.TarFile) -> bytes | None:
    for count, member in enumerate(archive):
        if count >= MAX_MEMBERS:
            message = f"more than {MAX_MEMBERS} members"
            raise tarfile.TarError(message)
        if member.name == f"{FOLDER}/{SNAPSHOT}":
            return _content(archive, member)
    return None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return a plain file's content: a link could name any file, a sparse one be of any size."""
    if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.issparse():
        message = f"{SNAPSHOT} is no plain file"
        raise tarfile.TarError(message)
    if member.size > MAX_SNAPSHOT_BYTES:
        raise _TooLargeError
    file: IO[bytes] | None = archive.extractfile(member)
    content = b"" if file is None else file.read(MAX_SNAPSHOT_BYTES + 1)
    if len(content) != member.size:
        message = f"{SNAPSHOT} is cut off"
        raise tarfile.TarError(message)
    return content


def packed(files: Mapping[str, bytes], *, modified_s: float) -> bytes:
    """Return the archive of these files; no owner, no group, one time for all: nothing that the texts do not say."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{FOLDER}/{name}")
            member.size, member.mode, member.mtime = len(content), 0o600, int(modified_s)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
