"""Which processes hold a GPU: NVML's three generations of process lists, read by the size of the record really written.

The bindings' own list functions are shorter, but they trust one record size: drivers 535.43-535.86 wrote 32 bytes where 24
were promised (nvitop issues 75 and 88, go-nvml issue 75), and every second process then became a made-up one; and they have
no function for the first generation.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator
from typing import Any

INSUFFICIENT_SIZE = 7  # NVML_ERROR_INSUFFICIENT_SIZE, nvml.h
FUNCTION_NOT_FOUND = 13  # NVML_ERROR_FUNCTION_NOT_FOUND, nvml.h
NOT_AVAILABLE = 0xFFFF_FFFF_FFFF_FFFF  # NVML_VALUE_NOT_AVAILABLE, nvml.h
# nvmlProcessInfo_v1_t, _v2_t and the withdrawn v3 with a protected-memory field: pid, padding, bytes, instance ids ...
NARROW, NORMAL, WIDE = 16, 24, 32
GENERATIONS = (("_v3", NORMAL), ("_v2", NORMAL), ("", NARROW))
HEAD = struct.Struct("=IxxxxQ")
UNTOUCHED = b"\xa5"
FIRST_ROOM = 64  # records: one call is enough for all but a crowded GPU
RETRIES = 3  # processes may start between the call that counts and the call that reads

Process = tuple[int, int | None]  # pid, bytes on the GPU


class ProcessLists:
    """The process lists of one library, as far as it has them; the newest first."""

    def __init__(self, library: Any) -> None:  # ctypes looks functions up by name
        self._functions = {kind: tuple(_generations(library, kind)) for kind in ("Compute", "Graphics")}
        self._room = FIRST_ROOM
        self._buffer = _fresh(FIRST_ROOM)
        self._count = ctypes.c_uint(0)
        self._count_pointer = ctypes.byref(self._count)

    def running(self, kind: str, handle: object) -> list[Process] | int:
        """Return pid and bytes of each process of that kind ("Compute", "Graphics"), or NVML's return code."""
        code = FUNCTION_NOT_FOUND
        for function, size in self._functions[kind]:
            code = self._ask(function, handle)
            if code == 0:
                return self._take(size) if self._count.value else []
            if code != FUNCTION_NOT_FOUND:
                break
        return code

    def _ask(self, function: Callable[..., int], handle: object) -> int:
        code = INSUFFICIENT_SIZE
        for _ in range(RETRIES):
            self._count.value = self._room
            code = function(handle, self._count_pointer, self._buffer)
            if code != INSUFFICIENT_SIZE:
                break
            self._room = 2 * max(self._count.value, self._room)
            self._buffer = _fresh(self._room)
        return code

    def _take(self, size: int) -> list[Process]:
        count = min(self._count.value, self._room)
        raw = self._buffer.raw
        ctypes.memset(self._buffer, UNTOUCHED[0], count * WIDE)
        return list(_records(raw, count, size))


def _generations(library: Any, kind: str) -> Iterator[tuple[Callable[..., int], int]]:
    for suffix, size in GENERATIONS:
        function = getattr(library, f"nvmlDeviceGet{kind}RunningProcesses{suffix}", None)
        if function is not None:
            yield function, size


def _fresh(room: int) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(UNTOUCHED * (room * WIDE), room * WIDE)


def _records(raw: bytes, count: int, size: int) -> Iterator[Process]:
    if size == NORMAL and raw[count * NORMAL : count * WIDE].strip(UNTOUCHED):
        size = WIDE
    for start in range(0, count * size, size):
        pid, used = HEAD.unpack_from(raw, start)
        yield pid, None if used == NOT_AVAILABLE else used
