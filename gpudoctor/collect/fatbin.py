"""Count the GPU code objects in a shared library by architecture: what a build really contains, whoever built it.

Only the headers are read, hopping from one to the next through a memory map. Looking into `.nv_fatbin` alone would be the
obvious way and misses four fifths of TensorFlow's kernels: those made by its MLIR compiler lie in `.rodata`.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path

from gpudoctor.collect.elf import ElfError

SECTIONS = (b".nv_fatbin", b".rodata", b"__nv_relfatbin", b".lrodata")
MAGIC = b"\x50\xed\x55\xba"  # 0xBA55ED50, the fat-binary header
FATBIN_HEADER_BYTES = 16
PTX, SASS = 1, 2
KINDS = {PTX: "compute", SASS: "sm"}
ARCHITECTURE_AT = 28  # offset of the architecture in a code object's header (read in the wheels of 2.4 to 2.22)
ELF_MAGIC = b"\x7fELF\x02\x01"


def count_code_objects(path: Path) -> Mapping[str, int]:
    """Return how many code objects there are by architecture (sm_80: 1397), sorted, empty where there is no GPU code.

    Raises OSError when the file cannot be read, ElfError when it is not a 64-bit ELF file or is cut short.
    """
    counts: Counter[tuple[int, int]] = Counter()
    with path.open("rb") as file:
        if file.read(len(ELF_MAGIC)) != ELF_MAGIC:
            raise ElfError(f"not a 64-bit little-endian ELF file: {path}")
        try:
            with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                for start, end in _sections(data):
                    counts.update(_objects(data, start, end))
        except (struct.error, IndexError, OverflowError) as error:
            raise ElfError(f"damaged or cut short: {path}") from error
    ordered = sorted(counts.items(), key=lambda item: (-item[0][0], item[0][1]))
    return {f"{KINDS[kind]}_{architecture}": count for (kind, architecture), count in ordered}


def _sections(data: mmap) -> Iterator[tuple[int, int]]:
    table: int = struct.unpack_from("<Q", data, 40)[0]
    entry_bytes, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQ", data, table + index * entry_bytes) for index in range(count)]
    if not rows:
        return  # stripped of its section headers
    for name_at, _, _, _, offset, size in rows:
        start = rows[names][4] + name_at
        if data[start : data.find(b"\0", start)] in SECTIONS:
            yield offset, min(offset + size, len(data))


def _objects(data: mmap, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start
    while (position := data.find(MAGIC, position, end)) >= 0:
        header_bytes, body_bytes = struct.unpack_from("<HQ", data, position + 6)
        body = position + header_bytes
        if header_bytes != FATBIN_HEADER_BYTES or body + body_bytes > end:
            position += len(MAGIC)  # the same four bytes by chance
            continue
        position = body + body_bytes
        yield from _entries(data, body, position)


def _entries(data: mmap, position: int, end: int) -> Iterator[tuple[int, int]]:
    while position + ARCHITECTURE_AT + 4 <= end:
        kind, _, header_bytes, size = struct.unpack_from("<HHIQ", data, position)
        architecture: int = struct.unpack_from("<I", data, position + ARCHITECTURE_AT)[0]
        if kind in KINDS:
            yield kind, architecture
        if header_bytes == 0:
            return
        position += header_bytes + size
