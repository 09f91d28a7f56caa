"""Who holds a GPU: name, owner and command of a process, read from /proc; identifiers are redacted later, in one place.

psutil tells the same, but its import costs more than these few files on the path of a quick scan, and it asks the directory
service for the user's name, which may take seconds. A pid that NVML tells from outside this container may be nobody's or
somebody else's here: then only the pid stands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from gpudoctor.collect.notebook import command_words, is_kernel
from gpudoctor.model.gpu import GpuProcess
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.words import HolderKind

HOST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of the Linux kernel (include/linux/proc_ns.h)
NOT_POSIX = Missing("not supported on this system")
NOT_HERE = Missing("no such process to be seen from here")
DOUBTFUL = Missing("the pid may belong to another PID namespace")
NVIDIA_FILES = (b"/dev/nvidia", b"libcuda.so")  # what a process that uses a GPU has mapped

NOT_OWN = Missing("another user's process")

About = tuple[Maybe[str], Maybe[str], Maybe[str], Maybe[bool], Maybe[bool]]  # name, user, command, own, notebook


class Processes:
    """Looks up processes by pid under a machine root, each once."""

    def __init__(self, root: Path) -> None:
        self._proc, self._passwd = root / "proc", root / "etc/passwd"
        self._users: dict[int, str] | None = None
        self._known: dict[int, About] = {}
        self._foreign: bool | None = None

    def describe(self, pid: int, kind: HolderKind, memory_bytes: Maybe[int]) -> GpuProcess:
        """Return what this user may know about the process."""
        about = self._known.get(pid)
        if about is None:
            about = self._known[pid] = self._look_up(pid)
        name, user, command, own, notebook = about
        return GpuProcess(
            pid=pid,
            kind=kind,
            memory_bytes=memory_bytes,
            name=name,
            user=user,
            command=command,
            own=own,
            notebook=notebook,
        )

    def _look_up(self, pid: int) -> About:
        if os.name != "posix":
            return _nothing(NOT_POSIX)
        folder = self._proc / str(pid)
        try:
            owner = folder.stat().st_uid
            name = (folder / "comm").read_text(encoding="utf-8", errors="replace").rstrip("\n")
        except OSError:
            return _nothing(NOT_HERE)
        if self._in_other_namespace() and not _uses_gpu(folder):
            return _nothing(DOUBTFUL)
        words, own = command_words(folder), owner == os.getuid()
        command = " ".join(words).strip() if words else Missing("no_permission")
        return name, self._user(owner), command, own, is_kernel(words) if own else NOT_OWN

    def _user(self, uid: int) -> Maybe[str]:
        """Return the local account's name; a number is all that is known of one kept elsewhere."""
        if self._users is None:
            self._users = dict(_accounts(self._passwd))
        return self._users.get(uid, f"uid {uid}")

    def _in_other_namespace(self) -> bool:
        if self._foreign is None:
            try:
                self._foreign = (self._proc / "self/ns/pid").readlink().name != HOST_PID_NAMESPACE
            except OSError:
                self._foreign = False
        return self._foreign


def parents_of_all(root: Path = Path("/")) -> dict[int, int]:
    """Return pid -> parent's pid of everything that runs."""
    found: dict[int, int] = {}
    try:
        names = os.listdir(root / "proc")  # noqa: PTH208  # names only
    except OSError:
        return found
    for name in names:
        if name.isdecimal():
            with suppress(OSError, IndexError, ValueError):
                stat = (root / "proc" / name / "stat").read_text(encoding="ascii", errors="replace")
                found[int(name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(pid: int, parents: Mapping[int, int]) -> tuple[int, ...]:
    """Return a process and all that came from it, as far as the parents between still live."""
    children: dict[int, list[int]] = {}
    for each, parent in parents.items():
        children.setdefault(parent, []).append(each)
    found, seen = [pid], {pid}  # a number given anew while the table was read could close a circle
    for each in found:  # grows while it is read
        new = [child for child in children.get(each, ()) if child not in seen]
        seen.update(new)
        found += new
    return tuple(found)


def _nothing(why: Missing) -> About:
    return why, why, why, why, why


def _uses_gpu(folder: Path) -> bool:
    try:
        maps = (folder / "maps").read_bytes()
    except OSError:
        return False
    return any(each in maps for each in NVIDIA_FILES)


def _accounts(passwd: Path) -> Iterator[tuple[int, str]]:
    """Yield uid and name of each line: name:password:uid:... (man 5 passwd)."""
    try:
        lines = passwd.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for fields in (line.split(":") for line in lines):
        if len(fields) > 2 and fields[2].isdecimal():
            yield int(fields[2]), fields[0]
