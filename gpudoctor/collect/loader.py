"""Predict which file the dynamic loader takes for a library that another library opens, and which it would take next.

Asking the loader (dlopen) tells the first only, needs a process, and cannot be asked about a described machine. The order
is that of glibc's `_dl_map_object` (elf/dl-load.c); its hardware sub-folders (glibc-hwcaps) hold no CUDA library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gpudoctor.collect.elf import Dynamic, ElfError, OtherWordSizeError, read_dynamic, read_machine
from gpudoctor.collect.loader_cache import LoaderCache
from gpudoctor.model.record import dataclass

THIS_MACHINE = Path("/")
# By processor number: the folder name of Debian's multiarch, which `$LIB` stands for there.
TRIPLETS = {62: "x86_64-linux-gnu", 183: "aarch64-linux-gnu", 21: "powerpc64le-linux-gnu"}
UNREADABLE = Dynamic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file of the wanted name. `path` opens it; `shown` is its path on the machine; `by` is the step that found it.

    `by`: rpath, ld_library_path, runpath, cache, default.
    """

    path: Path
    shown: str
    by: str


class Loader:
    """The loader of one process: its root, its LD_LIBRARY_PATH and its executable."""

    def __init__(self, *, root: Path, library_path: str, executable: Path) -> None:
        self._root = root
        self._library_path = tuple(library_path.replace(";", ":").split(":")) if library_path else ()
        self._executable = Path(os.path.realpath(executable))
        self._cache = LoaderCache(root)
        self._dynamics: dict[Path, Dynamic] = {}

    def dynamic(self, library: Path) -> Dynamic:
        """Return the dynamic section of a file, an empty one where it cannot be read."""
        if library not in self._dynamics:
            try:
                self._dynamics[library] = read_dynamic(library)
            except (OSError, ElfError):
                self._dynamics[library] = UNREADABLE
        return self._dynamics[library]

    def find(self, name: str, callers: tuple[Path, ...]) -> tuple[Found, ...]:
        """Return the files of that name in the order of the search that the library `callers[0]` starts.

        The other callers are those that loaded it, in turn. Files with the same content by links stand once.
        """
        machine = self.dynamic(callers[0]).machine
        seen: set[str] = set()
        found: list[Found] = []
        for by, text in self._places(name, callers):
            candidate = self._located(by, text)
            if not os.path.isfile(candidate.path):  # noqa: PTH113  # most places are empty: this line must be cheap
                continue
            real = os.path.realpath(candidate.path)
            if real not in seen and _fits(candidate.path, machine):
                seen.add(real)
                found.append(candidate)
        return tuple(found)

    def _places(self, name: str, callers: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
        caller = self.dynamic(callers[0])
        if not caller.runpath:  # a RUNPATH switches every RPATH off
            for library in (*callers, self._executable):
                if not self.dynamic(library).runpath:
                    yield from (("rpath", f"{each}/{name}") for each in self._expanded(library, "rpath"))
        for folder in self._library_path:
            yield "ld_library_path", f"{folder or '.'}/{name}"
        yield from (("runpath", f"{each}/{name}") for each in self._expanded(callers[0], "runpath"))
        yield from (("cache", path) for path in self._cache.paths(name))
        triplet = TRIPLETS.get(caller.machine)
        system = (f"/lib/{triplet}", f"/usr/lib/{triplet}") if triplet else ()
        yield from (("default", f"{folder}/{name}") for folder in (*system, "/lib64", "/usr/lib64", "/lib", "/usr/lib"))

    def _expanded(self, library: Path, kind: str) -> Iterator[str]:
        dynamic = self.dynamic(library)
        for folder in dynamic.rpath if kind == "rpath" else dynamic.runpath:
            text = folder.replace("${", "$").replace("}", "")
            if "$LIB" in text:
                text = text.replace("$LIB", f"lib/{TRIPLETS.get(dynamic.machine, '')}")
            yield text.replace("$ORIGIN", str(library.parent))

    def _located(self, by: str, text: str) -> Found:
        """Take system folders under the root; what lies beside the examined libraries stays where it is."""
        if self._root == THIS_MACHINE or not text.startswith("/"):
            return Found(path=Path(text), shown=os.path.normpath(text), by=by)
        under = self._root / text.lstrip("/")
        if by in {"cache", "default"} or under.exists():
            return Found(path=under, shown=os.path.normpath(text), by=by)
        return Found(path=Path(text), shown=os.path.normpath(text), by=by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What opening a library brings: its files in search order, those that came with it, and what is not found.

    With anything absent the loader takes all of it back and fails.
    """

    files: tuple[Found, ...]
    linked: dict[str, tuple[Found, ...]]
    absent: tuple[str, ...]


class Process:
    """A process that opens libraries one after the other: a name that is loaded already is not searched again."""

    def __init__(self, loader: Loader, wanted: re.Pattern[str]) -> None:
        self._loader = loader
        self._wanted = wanted
        self._loaded: dict[str, tuple[Found, ...]] = {}

    def open(self, name: str, callers: tuple[Path, ...]) -> Opened:
        """Open a library with all that it is linked to (of the wanted names), breadth first as the loader does."""
        new: dict[str, tuple[Found, ...]] = {}
        absent: list[str] = []
        queue = [(name, callers)]
        for each, by in queue:  # grows while it is walked
            if each in self._loaded or each in new:
                continue
            found = self._loader.find(each, by)
            if not found:
                absent.append(each)
                continue
            new[each] = found
            linked = (other for other in self._loader.dynamic(found[0].path).needed if self._wanted.match(other))
            queue += [(other, (found[0].path, *by)) for other in linked]
        if not absent:
            self._loaded |= new
        files = self._loaded.get(name) or new.get(name, ())
        linked_files = {each: found for each, found in new.items() if each != name}
        return Opened(files=files, linked=linked_files, absent=tuple(dict.fromkeys(absent)))


def _fits(path: Path, machine: int) -> bool:
    """Return whether the loader would stop at this file: it passes over other processors, but fails on a damaged one."""
    try:
        return machine in {0, read_machine(path)}
    except (OtherWordSizeError, OSError):
        return False
    except ElfError:
        return True
