"""Reads the dump that TensorFlow's BFC allocator prints when it runs out of memory, and computes true fragmentation.

Fragmentation is 1 - largest free chunk / total free (XProf's definition, and BFCAllocator::GetFragmentation). The stats
at the dump's end carry a `LargestFreeBlock`, which looks like the same thing and is not: BFC leaves it at 0 in every
release up to TF 2.21, so the chunks are counted instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpudoctor.logs.text import size_bytes
from gpudoctor.model.missing import Maybe, Missing

END = "LargestFreeBlock"  # the last line of the stats, from TF 2.1 on
# Literals of which each line of a dump that is read holds at least one.
ANCHORS = (
    "InUse", "Chunk at ", "Free  at ", "Next region", "Bin (", "Bin for ", "BFCAllocator dump",
    "Sum Total", "Chunks of size", "Stats:", "Limit: ", "_limit_: ", END, "Allocator memory summary",
)  # fmt: skip
# "InUse at 7f61 of size 256 next 1" (from TF 2.2), "InUse at 0x7f1c next 3 of size 2048" (1.14-2.1), "Chunk at 0x7f94 of
# size 81920" (to 1.13); "Free " is padded to the width of the other word.
CHUNK = re.compile(r"(InUse|Chunk|Free ) at (?:0x)?[0-9A-Fa-f]{4,16} (?:next \d{1,20} )?of size (\d{1,20})")
# The same, for a whole run of such lines at once: each begins with a literal, which is found at the speed of a search.
REST_OF_CHUNK = r" at (?:0x)?[0-9A-Fa-f]{4,16} (?:next \d{1,20} )?of size (\d{1,20})"
FREE_CHUNKS = re.compile("Free " + REST_OF_CHUNK)
USED_CHUNKS = (re.compile("InUse" + REST_OF_CHUNK), re.compile("Chunk" + REST_OF_CHUNK))
RUN_WORDS = ("InUse at ", "Chunk at ", "Free  at ", "Bin (")  # of the lines that come in thousands
# What stands once in each line of a dump between its head and END; a line of anything else has none of them.
WHOLE_WORDS = (
    *RUN_WORDS, "Bin for ", "Next region", "Chunks by size", "Chunks of size",
    "Sum Total", "_limit_: ", "Stats:", "Limit: ", "InUse: ", "NumAllocs: ", "MaxAllocSize: ", "Reserved: ",
)  # fmt: skip
REGION = re.compile(r"Next region of size (\d{1,20})")
BIN = re.compile(r"Bin \((\d{1,20})\): .{0,160}? in use in bin\. (\S{1,20}) client-requested in use in bin")
SUMMARY = re.compile(r"(\d{1,9}) Chunks of size (\d{1,20}) totalling ")
STAT = re.compile(r"\b(Limit|InUse|MaxInUse): {1,60}(\d[\d.]{0,20}(?:[KMGT]i)?B?)\s*$")
STATS = re.compile(r"\b(Limit|InUse|MaxInUse): {1,60}(\d[\d.]{0,20}(?:[KMGT]i)?B?)[^\S\n]*$", re.MULTILINE)
# The pool's summary has had four wordings.
POOL = (
    re.compile(r"total_region_allocated_bytes_: (\d{1,20}) memory_limit_: (\d{1,20})"),
    re.compile(r"Total bytes in pool: (\d{1,20}) memory_limit_: (\d{1,20})"),
    re.compile(r"Total size in pool: (\S{1,20}) memory_limit_: (\S{1,20})"),
    re.compile(r"pool size (\S{1,20}), pool limit (\S{1,20})"),
)
SUM_TOTAL = re.compile(r"Sum Total of in-use chunks: (\S{1,20})")
DUMP_NAME = re.compile(r"BFCAllocator dump for (\w{1,60})")
# A human-readable size has two decimals from MiB on ("1.00GiB"), one for KiB ("1.0KiB"): off by at most 5 %.
ROUNDING_SHARE = 0.05
MAX_SIZES = 4096  # distinct chunk sizes remembered; a dump of a real training has tens to hundreds
SIZES_SHOWN = 5
LONGEST_COUNT, LONGEST_SIZE = 10, 21  # characters before and behind "Chunks of size" that hold its numbers
SMALLEST_BIN = 256  # the first bin that a dump names
NOT_SAID = Missing("not in the text")
CUT = Missing("the dump is cut")


@dataclass(frozen=True, slots=True, kw_only=True)
class BfcDump:
    """One dump. `complete`: every chunk was there and agrees with the allocator's own sums; else figures are Missing.

    `asked_bytes` is the request that failed, rounded up as the allocator does; `requested_bytes` what the program asked
    for in the chunks in use (from rounded texts). `holders`: (chunk size, count), most bytes first.
    """

    allocator: str = ""
    asked_bytes: Maybe[int] = NOT_SAID
    op: str = ""
    complete: bool = False
    regions: int = 0
    in_use_chunks: int = 0
    free_chunks: int = 0
    total_bytes: Maybe[int] = NOT_SAID
    in_use_bytes: Maybe[int] = NOT_SAID
    free_bytes: Maybe[int] = NOT_SAID
    largest_free_bytes: Maybe[int] = NOT_SAID
    requested_bytes: Maybe[int] = NOT_SAID
    limit_bytes: Maybe[int] = NOT_SAID
    peak_in_use_bytes: Maybe[int] = NOT_SAID
    holders: tuple[tuple[int, int], ...] = ()

    @property
    def fragmentation_share(self) -> Maybe[float]:
        """Return 1 - largest free chunk / total free; 0 where nothing is free."""
        if isinstance(self.free_bytes, Missing):
            return self.free_bytes
        if isinstance(self.largest_free_bytes, Missing):
            return self.largest_free_bytes
        return 1 - self.largest_free_bytes / self.free_bytes if self.free_bytes else 0.0

    @property
    def shortage(self) -> Maybe[str]:
        """Return why the request failed: `fragmentation` (free in the pool was more than asked), `split_pool`, `full`.

        split_pool: enough only together with what the pool had not taken from the device yet.
        """
        if isinstance(self.asked_bytes, Missing):
            return self.asked_bytes
        if isinstance(self.free_bytes, Missing):
            return self.free_bytes
        if self.asked_bytes <= self.free_bytes:
            return "fragmentation"
        if isinstance(self.limit_bytes, Missing) or isinstance(self.total_bytes, Missing):
            return "full"
        return "split_pool" if self.asked_bytes <= self.free_bytes + self.limit_bytes - self.total_bytes else "full"

    def values(self) -> dict[str, str]:
        """Return the known figures as an event's fields."""
        figures: dict[str, Maybe[int]] = {
            "asked_bytes": self.asked_bytes,
            "pool_bytes": self.total_bytes,
            "in_use_bytes": self.in_use_bytes,
            "free_bytes": self.free_bytes,
            "largest_free_bytes": self.largest_free_bytes,
            "requested_bytes": self.requested_bytes,
            "limit_bytes": self.limit_bytes,
            "peak_in_use_bytes": self.peak_in_use_bytes,
        }
        found = {name: str(value) for name, value in figures.items() if not isinstance(value, Missing)}
        share, shortage = self.fragmentation_share, self.shortage
        if not isinstance(share, Missing):
            found["fragmentation_share"] = f"{share:.4f}"
        if not isinstance(shortage, Missing):
            found["shortage"] = shortage
        if self.holders:
            found["holders"] = " ".join(f"{count}x{size}" for size, count in self.holders)
        return {**found, "dump": "complete" if self.complete else "partial"}


@dataclass(slots=True, kw_only=True)
class DumpReader:
    """Takes a dump line by line, in constant memory. The fields that bear a name tell what stood before the dump."""

    allocator: str = ""
    asked_bytes: int | None = None
    op: str = ""
    _head: bool = False
    _regions: int = 0
    _region_bytes: int = 0
    _in_use_chunks: int = 0
    _in_use_bytes: int = 0
    _free_chunks: int = 0
    _free_bytes: int = 0
    _largest_free_bytes: int = 0
    _requested_bytes: int | None = None
    _summed_bytes: int | None = None
    _pool_bytes: int | None = None
    _limit_bytes: int | None = None
    _stats: dict[str, int] = field(default_factory=dict[str, int])
    _sizes: Counter[int] = field(default_factory=Counter[int])
    _summary: Counter[int] = field(default_factory=Counter[int])

    def feed(self, line: str) -> bool:
        """Take the line; return whether it belonged to a dump."""
        if " at " in line and self._chunk(line):
            return True
        if (
            stat := STAT.match(line)
        ) is not None:  # most lines of a short dump are these, and nothing stands before them
            self._stat(stat)
            return True
        return self._frame(line) or self._sums(line)

    def _stat(self, match: re.Match[str]) -> None:
        told = match[2]
        self._stats[match[1]] = int(told) if told.isdecimal() else size_bytes(told) or 0

    def feed_run(self, text: str) -> None:
        """Take many lines of chunks at once: a dump has thousands, and one by one they cost three times as much."""
        for size, count in Counter(FREE_CHUNKS.findall(text)).items():
            self._free_chunks += count
            self._free_bytes += int(size) * count
            self._largest_free_bytes = max(self._largest_free_bytes, int(size))
        for expression in USED_CHUNKS:
            for size, count in Counter(expression.findall(text)).items():
                number = int(size)
                self._in_use_chunks += count
                self._in_use_bytes += number * count
                if number in self._sizes or len(self._sizes) < MAX_SIZES:
                    self._sizes[number] += count

        if "Bin" in text:
            self._head = self._head or ("Bin for " in text and "Chunk State" in text)
            for number, told in BIN.findall(text):
                self._bin(number, told)
        for size in REGION.findall(text):
            self._regions += 1
            self._region_bytes += int(size)
        self._sums_of_run(text)

    def _sums_of_run(self, text: str) -> None:
        """Take the sums at a dump's end; each search begins where its word first stands."""
        # cut at the words: a search for the number before them would try each digit of each line
        before, *rest = text.split(" Chunks of size ")
        for part in rest:
            count, size = before[-LONGEST_COUNT:].rpartition(" ")[2], part[:LONGEST_SIZE].partition(" ")[0]
            if count.isdecimal() and size.isdecimal() and len(self._summary) < MAX_SIZES:
                self._summary[int(size)] += int(count)
            before = part
        if (at := text.find("Sum Total")) >= 0 and (match := SUM_TOTAL.search(text, at)) is not None:
            self._summed_bytes = size_bytes(match[1])
        if (at := text.find("_limit_: ")) >= 0:
            self._pool(text, text.rfind("\n", 0, at) + 1)
        if (at := text.find("Limit: ")) >= 0 or (at := text.find("InUse: ")) >= 0:
            for match in STATS.finditer(text, max(0, at - len("Max"))):
                self._stat(match)

    def _pool(self, text: str, start: int = 0) -> bool:
        found = next((match for pattern in POOL if (match := pattern.search(text, start)) is not None), None)
        if found is not None:
            self._pool_bytes, self._limit_bytes = size_bytes(found[1].rstrip(",")), size_bytes(found[2].rstrip(","))
        return found is not None

    def _bin(self, number: str, told: str) -> None:
        if int(number) == SMALLEST_BIN:
            self._requested_bytes = 0
        if self._requested_bytes is not None:
            self._requested_bytes += size_bytes(told) or 0

    def _chunk(self, line: str) -> bool:
        match = CHUNK.search(line)
        if match is None:
            return False
        size = int(match[2])
        if match[1] == "Free ":
            self._free_chunks += 1
            self._free_bytes += size
            self._largest_free_bytes = max(self._largest_free_bytes, size)
            return True
        self._in_use_chunks += 1
        self._in_use_bytes += size
        if size in self._sizes or len(self._sizes) < MAX_SIZES:
            self._sizes[size] += 1
        return True

    def _frame(self, line: str) -> bool:
        if "Next region" in line and (match := REGION.search(line)) is not None:
            self._regions += 1
            self._region_bytes += int(match[1])
            return True
        if "Bin (" in line and (match := BIN.search(line)) is not None:
            self._bin(match[1], match[2])
            return True
        if "dump for" in line and (match := DUMP_NAME.search(line)) is not None:
            self.allocator = self.allocator or match[1]
            return True
        begins = "Bin for " in line and "Chunk State" in line  # right before the first chunk, in every release
        self._head = self._head or begins
        return begins

    def _sums(self, line: str) -> bool:
        if "Sum Total" in line and (match := SUM_TOTAL.search(line)) is not None:
            self._summed_bytes = size_bytes(match[1])
            return True
        if "totalling" in line and (match := SUMMARY.search(line)) is not None:
            if len(self._summary) < MAX_SIZES:
                self._summary[int(match[2])] += int(match[1])
            return True
        if (match := STAT.search(line)) is not None:
            self._stat(match)
            return True
        return self._pool(line)

    def started(self) -> bool:
        """Tell whether anything was read that only a dump holds."""
        return bool(self._in_use_chunks or self._free_chunks or self._regions or self._summed_bytes or self._pool_bytes)

    def result(self) -> BfcDump:
        """Return what the lines told so far."""
        complete = self._is_complete()
        # counted where the dump is whole, else as the allocator summed them up at its end
        in_use = self._in_use_bytes if complete else self._stats.get("InUse", self._summed_bytes)
        pool = self._in_use_bytes + self._free_bytes if complete else self._pool_bytes or self._once_full(in_use)
        # the summary of sizes stands at the end, so it survives where the chunks themselves are cut off
        most_first = sorted((self._sizes if complete else self._summary).items(), key=lambda each: -each[0] * each[1])
        return BfcDump(
            allocator=self.allocator,
            asked_bytes=_or_missing(self.asked_bytes, NOT_SAID),
            op=self.op,
            complete=complete,
            regions=self._regions,
            in_use_chunks=self._in_use_chunks,
            free_chunks=self._free_chunks,
            total_bytes=_or_missing(pool, CUT),
            in_use_bytes=_or_missing(in_use, CUT),
            free_bytes=CUT if pool is None or in_use is None or in_use > pool else pool - in_use,
            largest_free_bytes=self._largest_free_bytes if complete else CUT,
            requested_bytes=_or_missing(self._requested_bytes, NOT_SAID),
            limit_bytes=_or_missing(self._stats.get("Limit", self._limit_bytes), NOT_SAID),
            peak_in_use_bytes=_or_missing(self._stats.get("MaxInUse"), NOT_SAID),
            holders=tuple(most_first[:SIZES_SHOWN]),
        )

    def _once_full(self, in_use: int | None) -> int | None:
        """Return the most that was ever in use where it would hold the request now: the pool is at least that large."""
        peak = self._stats.get("MaxInUse")
        if peak is None or in_use is None or self.asked_bytes is None:
            return None
        return peak if self.asked_bytes <= peak - in_use else None

    def _is_complete(self) -> bool:
        if not self._head or self._summed_bytes is None or not (self._in_use_chunks or self._free_chunks):
            return False
        # releases before 2.1 name no regions: there the sum of the chunks in use decides alone
        whole = not self._regions or self._region_bytes == self._in_use_bytes + self._free_bytes
        return whole and _near(self._in_use_bytes, self._summed_bytes)


def _near(counted: int, told: int) -> bool:
    return abs(counted - told) <= ROUNDING_SHARE * max(counted, told)


def _or_missing(value: int | None, missing: Missing) -> Maybe[int]:
    return missing if value is None else value


def parse_dump(lines: Iterable[str]) -> BfcDump:
    """Return the one dump that the lines hold (of several: all taken together; the reader of logs splits them)."""
    reader = DumpReader()
    for line in lines:
        reader.feed(line)
    return reader.result()
