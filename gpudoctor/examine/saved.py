"""A saved machine: a snapshot, the snapshot inside a report, or the one inside a support archive."""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.codec import MAX_SNAPSHOT_BYTES, load_snapshot
from gpudoctor.errors import SnapshotError
from gpudoctor.examine.read_file import read_bounded
from gpudoctor.model.missing import either
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Level
from gpudoctor.redaction import redact

GZIP = b"\x1f\x8b"
CURE = "make one with `gpudoctor scan --save-snapshot FILE`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The snapshot, the level that it was taken at, and the interpreter that was examined."""

    snapshot: Snapshot
    level: Level
    python: str


def read_snapshot(path: str, *, identifiers: bool = False) -> Saved:
    """Return the machine saved in the file (`-`: stdin), redacted unless identifiers are wanted: it may be somebody else's.

    Raises SnapshotError with the cure.
    """
    data = read_bounded(path, MAX_SNAPSHOT_BYTES, cure=CURE, error=SnapshotError)
    if data.startswith(GZIP):
        from gpudoctor.examine.archive import snapshot_in  # noqa: PLC0415  # only an archive pays for tarfile

        data = snapshot_in(data, name=path)
    snapshot = load_snapshot(data, name=path)
    snapshot = snapshot if identifiers else redact(snapshot)
    python = either(snapshot.python.executable, "?") if snapshot.python is not None else "?"
    return Saved(snapshot=snapshot, level=snapshot.level, python=python)
