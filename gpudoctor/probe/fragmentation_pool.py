"""Asks TensorFlow's BFC allocator how its memory lies, by requests that it grants, refuses, and reports about.

A refused request waits inside TensorFlow for ten seconds before it becomes an OOM, and nothing shortens that. So each
request runs in a thread of its own; a refused one is left waiting, and is served in the end when the memory that is held
is let go. That way a measurement takes about a second.
Runs under the target interpreter: Python 3.8, standard library and TensorFlow only.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NamedTuple

from .child_bench import MEBIBYTE, Inconclusive
from .child_shortage import is_shortage

CHUNK_LINE = re.compile(r"(InUse|Chunk|Free ) at (?:0x)?[0-9A-Fa-f]{4,16} (?:next \d+ )?of size (\d+)")
ROUNDING = 256  # bytes: BFCAllocator::kMinAllocationSize, every chunk is a multiple
GRANTED_S = 0.25  # a granted request takes some milliseconds; one granted later than this is noticed all the same
# Of the pool, asked one after the other until one is refused: the smallest refused one is granted soonest in the end,
# also where TensorFlow goes on holding something in the middle of the pool.
REFUSED_SHARES = (0.25, 0.5, 0.625, 0.75, 0.875, 0.9375, 1.0)
MAP_S = 2.0  # the map is written before the first wait
OOM_S = 15.0  # kMaxMillisToWait of the allocator is 10 s
PREFIX_VARIABLE = "TF_BFC_MEMORY_DUMP"  # read by the allocator at each refusal


class Chunk(NamedTuple):
    """One piece of the pool, in bytes."""

    in_use: bool
    size: int


class Request:
    """One request for memory, made in a thread. `granted`: None while it waits."""

    def __init__(self, pool: Pool, size_bytes: int) -> None:
        """Start it."""
        self.granted: bool | None = None
        self._failure: BaseException | None = None
        self.size_bytes = size_bytes
        self._pool = pool
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._pool.take(self.size_bytes)
        except self._pool.tf.errors.OpError as error:
            if is_shortage(error):
                self.granted = False
            else:
                self._failure = error
        else:
            self.granted = True

    def wait(self, seconds: float) -> bool | None:
        """Return whether it was granted, None when it still waits after so long. Raises what ended it otherwise."""
        self._thread.join(seconds)
        if self._failure is not None:
            raise self._failure
        return self.granted


class Pool:
    """The allocator's pool of one device."""

    def __init__(self, tf: Any, device: str, limit_bytes: int) -> None:
        """Take the device (GPU or CPU) and the limit of its pool."""
        self.tf = tf
        self.place = f"/{device}:0"
        self.limit_bytes = limit_bytes
        self.reserved_bytes = 0

    def take(self, size_bytes: int) -> Any:
        """Return a fresh tensor of this size. Not tf.zeros, whose result TensorFlow may share or fold away."""
        with self.tf.device(self.place):
            return self.tf.raw_ops.Empty(shape=[size_bytes // 4], dtype=self.tf.float32, init=False)

    def reserve(self) -> None:
        """Make the pool one region of nearly all its limit, and leave it free."""
        self.take(4)  # the pool's first, small region
        for spared in (2, 4, 6, 14, 30):  # MiB that regions of 2, 4, 8, 16 MiB may have taken already
            size = self.limit_bytes - spared * MEBIBYTE
            if size > 0 and Request(self, size).wait(GRANTED_S * 8):
                self.reserved_bytes = size
                return
        raise Inconclusive(f"the pool of {self.limit_bytes // MEBIBYTE} MiB could not be had in one piece")

    def in_use_bytes(self) -> int | None:
        """Return get_memory_info's figure; None before TensorFlow 2.5 or where the allocator keeps none."""
        try:
            return int(self.tf.config.experimental.get_memory_info(self.place[1:])["current"])
        except (AttributeError, ValueError, KeyError):
            return None

    def largest_had(self, guess_bytes: int = 0) -> tuple[int, list[Request]]:
        """Return the largest block that is granted, exact to 256 bytes, and the refused requests, which still wait.

        A good guess needs two requests; without one it is a binary search.
        """
        beyond = self.limit_bytes // ROUNDING + 1  # in units of ROUNDING, as all here
        low, high = 0, beyond
        first = [guess_bytes // ROUNDING, guess_bytes // ROUNDING + 1] if guess_bytes else []
        waiting: list[Request] = []
        while high - low > 1:
            middle = first.pop(0) if first else (low + high) // 2
            if low < middle < high:
                waiting.append(Request(self, middle * ROUNDING))
                waiting[-1].wait(GRANTED_S)
                # all anew: on a busy machine one may be granted after it was given up
                low = max([low] + [each.size_bytes // ROUNDING for each in waiting if each.granted])
                high = min([beyond] + [each.size_bytes // ROUNDING for each in waiting if not each.granted])
        return low * ROUNDING, waiting


class Measured:
    """What the allocator said, in bytes. `from_allocator`: from its own map or dump, else by search alone."""

    def __init__(
        self, chunks: list[Chunk], largest_had_bytes: int, memory_info_bytes: int | None, pool_bytes: int
    ) -> None:
        """Take the chunks (in use, size) and what the other ways gave."""
        self.from_allocator = bool(chunks)
        self.largest_had_bytes = largest_had_bytes
        self.memory_info_bytes = memory_info_bytes
        self.in_use_bytes = sum(each.size for each in chunks if each.in_use) if chunks else memory_info_bytes or 0
        self.pool_bytes = sum(each.size for each in chunks) if chunks else pool_bytes
        self.total_free_bytes = self.pool_bytes - self.in_use_bytes
        free = [each.size for each in chunks if not each.in_use]
        self.largest_free_bytes = max(free) if free else (0 if chunks else largest_had_bytes)
        self.printed_share: float | None = None
        self.notes: list[str] = []

    def share(self, largest_bytes: int) -> float:
        """Return the fragmentation that this largest free block means."""
        return 1 - largest_bytes / self.total_free_bytes if self.total_free_bytes else 0.0


def measure(
    pool: Pool,
    kept: list[Any],
    *,
    printed: bool = False,
    guided: bool = True,
    left_s: Callable[[], float] = lambda: OOM_S,
    report: Path | None = None,
) -> Measured:
    """Measure in three ways while `kept` is alive; then empty it, which lets the waiting requests through.

    `guided`: start the search at the allocator's own figure. `report`: a file for what the allocator printed.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gpudoctor-")))
        told = stack.enter_context(stderr_into(report or folder / "printed"))
        with _variable(PREFIX_VARIABLE, str(folder / "map")):
            refused, chunks = _refused(pool, folder, to_the_end=printed)
        had, waiting = pool.largest_had(
            max((each.size for each in chunks if not each.in_use), default=0) if guided else 0
        )
        measured = Measured(chunks, had, pool.in_use_bytes(), pool.limit_bytes)
        if (printed or not chunks) and refused.granted is None and left_s() >= OOM_S:
            refused.wait(OOM_S)
            measured = _with_printed(measured, _dump_for(refused.size_bytes, told()), pool.limit_bytes)
        del kept[:]
        gc.collect()  # a model and its compiled step hold each other
        for each in [*waiting, refused]:
            each.wait(OOM_S)
    return measured


def _refused(pool: Pool, folder: Path, *, to_the_end: bool) -> tuple[Request, list[Chunk]]:
    """Return a request that the allocator refuses, and the map that it wrote of it.

    `to_the_end`: more than the pool has, so that it becomes an OOM; else it can be granted once all is let go.
    """
    sizes = [int(pool.reserved_bytes * share) // ROUNDING * ROUNDING for share in REFUSED_SHARES]
    if to_the_end:
        sizes = [pool.limit_bytes + MEBIBYTE]
    request = Request(pool, sizes[0])
    chunks = _mapped(folder, request)
    for size in sizes[1:]:
        if not request.granted:
            break
        request = Request(pool, size)
        chunks = _mapped(folder, request)
    return request, chunks


def _mapped(folder: Path, refused: Request) -> list[Chunk]:
    """Return the chunks of the map that the allocator wrote when it refused; none where it writes none."""
    try:
        from tensorflow.core.protobuf import bfc_memory_map_pb2  # noqa: PLC0415  # only a TensorFlow that has it
    except ImportError:
        return []
    end = time.monotonic() + MAP_S
    while time.monotonic() < end and refused.granted is None:
        for path in sorted(folder.glob("map*")):
            chunks = _chunks_of(bfc_memory_map_pb2.MemoryDump(), path)
            if chunks:
                return chunks
        time.sleep(0.01)
    return []


def _chunks_of(dump: Any, path: Path) -> list[Chunk]:
    """Return the chunks of a map; none while it is still being written."""
    with contextlib.suppress(Exception):  # protobuf's DecodeError; its module's name differs between versions
        dump.ParseFromString(path.read_bytes())
    chunks = [Chunk(bool(each.in_use), int(each.size)) for each in dump.chunk]
    whole = dump.HasField("stats") and sum(each.size for each in chunks if each.in_use) == dump.stats.bytes_in_use
    return chunks if whole else []


def _dump_for(size_bytes: int, text: str) -> str:
    """Return the dump for the request of this size; the search's own requests may have printed theirs by now."""
    dumps = text.split("ran out of memory trying to allocate")[1:]
    rounded = f"(rounded to {size_bytes})"
    return next((each for each in dumps if rounded in each[:80]), dumps[0] if dumps else "")


def _with_printed(measured: Measured, text: str, pool_bytes: int) -> Measured:
    """Return the measurement with the printed dump's share; the dump alone where there was no map."""
    chunks = [Chunk(match.group(1) != "Free ", int(match.group(2))) for match in CHUNK_LINE.finditer(text)]
    if not chunks:
        measured.notes.append("the allocator printed no dump")
        return measured
    printed = Measured(chunks, measured.largest_had_bytes, measured.memory_info_bytes, pool_bytes)
    if not measured.from_allocator:
        measured = printed
    measured.printed_share = printed.share(printed.largest_free_bytes)
    return measured


@contextlib.contextmanager
def stderr_into(path: Path) -> Generator[Callable[[], str]]:
    """Send this process's stderr into a file; the OOM is provoked and must not reach those who read the real one."""
    sys.stderr.flush()
    before = os.dup(2)
    with path.open("w+b") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: path.read_text(errors="replace")
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)


@contextlib.contextmanager
def _variable(name: str, value: str) -> Generator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
