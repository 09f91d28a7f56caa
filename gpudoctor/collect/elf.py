"""Read from a shared library what the dynamic loader reads: the name it has, what it needs and where it searches.

pyelftools knows far more, but it is one dependency more for every install and its import alone costs more than the whole
quick look at the libraries may (measured: 51 ms; a read here takes 0.1-0.3 ms); these tags of one section are all we ask.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from gpudoctor.model.record import dataclass

# Figures of the format: System V ABI, chapters 4 and 5, and the GNU extensions in elf.h of glibc.
MAGIC = b"\x7fELF"
CLASS_64, LITTLE_ENDIAN = 2, 1
HEADER_BYTES, PROGRAM_HEADER_BYTES = 64, 56
LOAD, DYNAMIC = 1, 2
END, NEEDED, STRING_TABLE, SONAME, RPATH, RUNPATH = 0, 1, 5, 14, 15, 29
CHUNK_BYTES = 65536  # the RUNPATH of a TensorFlow wheel has 16 KB (measured: 2.20.0), most strings under 50 bytes
MAX_BYTES = 1 << 20  # of one read: a damaged file may name any size


class ElfError(ValueError):
    """The file is not a 64-bit little-endian ELF file, or is cut short."""


class OtherWordSizeError(ElfError):
    """An ELF file of 32 bits or another byte order: the loader passes it over and searches on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamic:
    """What the dynamic section says; paths as written, with $ORIGIN, doubles left out."""

    needed: tuple[str, ...] = ()
    soname: str | None = None
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    machine: int = 0


def read_machine(path: Path) -> int:
    """Return the processor number of the file.

    Raises OSError when it cannot be read, OtherWordSizeError or ElfError when it is not a 64-bit little-endian ELF file.
    """
    with path.open("rb", buffering=0) as file:
        return _machine(file.read(HEADER_BYTES), path)


def _machine(header: bytes, path: Path) -> int:
    if len(header) < HEADER_BYTES or header[:4] != MAGIC:
        raise ElfError(f"not an ELF file: {path}")
    if header[4] != CLASS_64 or header[5] != LITTLE_ENDIAN:
        raise OtherWordSizeError(f"not a 64-bit little-endian ELF file: {path}")
    machine: int = struct.unpack_from("<H", header, 18)[0]
    return machine


def read_dynamic(path: Path) -> Dynamic:
    """Read the dynamic section. Raises OSError when the file cannot be read, ElfError when it is not such a file."""
    with path.open("rb", buffering=0) as file:
        header = file.read(HEADER_BYTES)
        machine = _machine(header, path)
        try:
            return _read(file, header, machine)
        except (struct.error, IndexError, OverflowError) as error:
            raise ElfError(f"damaged or cut short: {path}") from error


def _read(file: BinaryIO, header: bytes, machine: int) -> Dynamic:
    loads: list[tuple[int, int, int]] = []
    section = b""
    for kind, offset, address, size in _program_headers(file, header):
        if kind == LOAD:
            loads.append((offset, address, size))
        elif kind == DYNAMIC:
            section = _at(file, offset, size)
    tags = list(_tags(section))
    strings = next((_offset(value, loads) for tag, value in tags if tag == STRING_TABLE), None)
    if strings is None:
        return Dynamic(machine=machine)  # statically linked
    texts = [(tag, _string(file, strings + value)) for tag, value in tags if tag in {NEEDED, SONAME, RPATH, RUNPATH}]
    return Dynamic(
        needed=tuple(text for tag, text in texts if tag == NEEDED),
        soname=next((text for tag, text in texts if tag == SONAME), None),
        rpath=_folders(texts, RPATH),
        runpath=_folders(texts, RUNPATH),
        machine=machine,
    )


def _program_headers(file: BinaryIO, header: bytes) -> list[tuple[int, int, int, int]]:
    start: int = struct.unpack_from("<Q", header, 32)[0]
    count: int = struct.unpack_from("<H", header, 56)[0]
    table = _at(file, start, count * PROGRAM_HEADER_BYTES)
    rows = struct.iter_unpack(
        "<IIQQQQQQ", table
    )  # type, flags, offset, address, physical, size in file, in memory, align
    return [(row[0], row[2], row[3], row[5]) for row in rows]


def _tags(section: bytes) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for tag, value in struct.iter_unpack("<qQ", section[: len(section) // 16 * 16]):
        if tag == END:
            break
        pairs.append((tag, value))
    return pairs


def _offset(address: int, loads: list[tuple[int, int, int]]) -> int:
    for offset, start, size in loads:
        if start <= address < start + size:
            return address - start + offset
    raise IndexError(address)


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    _seek(file, offset)
    data = file.read(min(size, MAX_BYTES))
    if len(data) < size:
        raise IndexError(offset)
    return data


def _seek(file: BinaryIO, offset: int) -> None:
    try:
        file.seek(offset)
    except OSError as error:  # an offset that no file can have
        raise IndexError(offset) from error


def _string(file: BinaryIO, offset: int) -> str:
    _seek(file, offset)
    data = b""
    while b"\0" not in data and len(data) < MAX_BYTES:
        more = file.read(CHUNK_BYTES if data else 256)
        if not more:
            raise IndexError(offset)
        data += more
    return data.partition(b"\0")[0].decode(errors="replace")


def _folders(texts: list[tuple[int, str]], tag: int) -> tuple[str, ...]:
    found = (folder for kind, text in texts if kind == tag for folder in text.split(":") if folder)
    return tuple(dict.fromkeys(found))
