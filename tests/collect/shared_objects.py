"""Makes shared libraries for tests: by hand where they are only read, with gcc where the real loader must take them.

Copies of real CUDA libraries would be closer to life and weigh gigabytes; what the loader and the readers look at is
all in the headers written here.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

X86_64, AARCH64 = 62, 183
_HEADER, _PROGRAM_HEADER, _SECTION_HEADER = 64, 56, 64


def write_elf(
    path: Path,
    *,
    soname: str = "",
    needed: Sequence[str] = (),
    rpath: str = "",
    runpath: str = "",
    machine: int = X86_64,
    sections: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a 64-bit ELF file with a dynamic section and, if given, named sections. It can be read, not loaded."""
    strings = b"\0"
    tags: list[tuple[int, int]] = []
    texts = [(1, name) for name in needed] + [(14, soname), (15, rpath), (29, runpath)]
    for tag, text in texts:
        if text:
            tags.append((tag, len(strings)))
            strings += text.encode() + b"\0"
    strings_at = _HEADER + 2 * _PROGRAM_HEADER
    dynamic_at = strings_at + len(strings)
    tags += [(5, strings_at), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    bodies, table = _sections(sections or {}, dynamic_at + len(dynamic))
    total = dynamic_at + len(dynamic) + len(bodies)
    header = struct.pack(
        "<4sBBB9xHHIQQQIHHHHHH",
        b"\x7fELF", 2, 1, 1, 3, machine, 1, 0, _HEADER, total if table else 0, 0, _HEADER, _PROGRAM_HEADER, 2,
        _SECTION_HEADER, len(table) // _SECTION_HEADER, max(0, len(table) // _SECTION_HEADER - 1),
    )  # fmt: skip
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
    place = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + load + place + strings + dynamic + bodies + table)
    return path


def _sections(sections: Mapping[str, bytes], start: int) -> tuple[bytes, bytes]:
    if not sections:
        return b"", b""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    rows, bodies = [struct.pack("<IIQQQQIIQQ", *[0] * 10)], b""
    for name, body in [*sections.items(), (".shstrtab", names)]:
        where = start + len(bodies)
        rows.append(
            struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), 1, 0, 0, where, len(body), 0, 0, 1, 0)
        )
        bodies += body
    return bodies, b"".join(rows)


def fat_binary(*objects: tuple[int, int]) -> bytes:
    """Return a fat binary of code objects (kind 1 = PTX, 2 = SASS; architecture), as nvcc writes its headers."""
    body = b"".join(
        struct.pack("<HHIQ", kind, 0x101, 64, 16) + b"\0" * 12 + struct.pack("<I", architecture) + b"\0" * 48
        for kind, architecture in objects
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def compile_library(path: Path, source: str = "", *, linker: Sequence[str] = (), soname: str = "") -> Path:
    """Compile a library that can be loaded; skip the test where there is no gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("the libraries of this test need gcc, which is not on PATH")
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = [f"-Wl,{flag}" for flag in (f"-soname,{soname or path.name}", *linker)]
    command = [gcc, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), *flags, "-ldl"]
    subprocess.run(command, input=source.encode(), check=True)
    return path
