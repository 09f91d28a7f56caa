"""Where a session is written: where it is wanted, or on a local disk first where that is a network's.

SQLite's write-ahead log needs shared memory between its readers, which no network file system has, and a server that hangs
would hang the recording. The file that was asked for is then a note with the place of the real one, until the end puts the
session itself there: whoever opens it after a kill follows the note.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gpudoctor.errors import UsageError

# Types of /proc/self/mountinfo whose data lies on another machine (statfs(2) and the kernel's fs/ folders).
NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "gpfs", "beegfs", "afs", "9p", "glusterfs", "ocfs2", "gfs2",
    "pvfs2", "orangefs", "panfs", "wekafs", "coda", "ncpfs", "vboxsf", "virtiofs",
})  # fmt: skip
OVER_FUSE = (
    "fuse.",
)  # sshfs, s3fs, gcsfuse, glusterfs: a fuse file system need not keep to POSIX, and shared memory fails
NOTE = b"gpudoctor session, being written at "

TypeOf = Callable[[Path], str]


def file_system(path: Path, root: Path = Path("/")) -> str:
    """Return the type of the file system on which a path lies or would lie, '' where it cannot be told."""
    try:
        text = (root / "proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    place = os.path.realpath(path)
    best, kind = "", ""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        mount = fields[4].encode().decode("unicode_escape")  # blanks are written \040
        inside = place == mount or place.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, after.split()[0]
    return kind


def is_remote(kind: str) -> bool:
    """Return whether a file system's data lies on another machine, as far as its type tells."""
    return kind in NETWORK or kind.startswith(OVER_FUSE)


def place_for(wanted: Path, type_of: TypeOf = file_system) -> Path:
    """Return where to write: `wanted`, or a local file of which a note at `wanted` tells. Raises OSError."""
    if not is_remote(type_of(wanted)):
        return wanted
    wanted.touch(mode=0o600, exist_ok=False)
    local = Path(tempfile.mkdtemp(prefix="gpudoctor-session-")) / wanted.name
    wanted.write_bytes(NOTE + os.fsencode(local) + b"\n")
    return local


def move(local: Path, wanted: Path) -> Path:
    """Put a finished session where it was wanted, and return where it is now."""
    if local == wanted:
        return wanted
    copy = wanted.with_name(wanted.name + ".part")
    try:
        shutil.copyfile(local, copy)
        copy.chmod(0o600)
        copy.replace(wanted)
    except OSError:
        with suppress(OSError):
            copy.unlink()
        return local
    shutil.rmtree(local.parent, ignore_errors=True)
    return wanted


def followed(path: Path) -> Path:
    """Return the file of a session: what a note tells, else the path itself. Raises UsageError for a note alone."""
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(NOTE)) == NOTE:
            local = Path(os.fsdecode(file.read().rstrip(b"\n")))
            if not local.is_file():
                raise UsageError(f"{path}: its recording stayed at {local}, on the machine where it was made")
            return local
    return path
