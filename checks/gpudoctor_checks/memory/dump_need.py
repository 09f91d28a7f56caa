"""What one dump of the allocator tells of a training's need, and who holds the memory.

It bounds the need from below only: the request that failed need not be the step's last. To take what was asked for as the
end of it would promise that half a batch suffices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.sdk import Evidence, LogEvent, Missing
from gpudoctor_checks.memory.oom_events import number
from gpudoctor_checks.memory.ways_out import Need

NOT_THE_LAST = Missing("the request that failed need not be the step's last")
CLASSES_SHOWN = 3
WORTH_SHOWING = 0.01  # policy, of the pool: less explains nothing


def from_dump(dump: LogEvent | None, tensors: Sequence[LogEvent]) -> Need:
    """Return what one dump tells: what was in use and what was asked for; and the batch, as the first dimension of a tensor."""
    if dump is None:
        return Need()
    asked, used, limit = (number(dump, name) for name in ("asked_bytes", "in_use_bytes", "limit_bytes"))
    if not asked or not used:
        return Need()
    return Need(
        low=used + asked,
        high=NOT_THE_LAST,
        growing_of_low=used + asked,
        growing_of_high=NOT_THE_LAST,
        limit=limit or Missing("the dump tells no limit"),
        batch=_batch(tensors),
        basis=f"the allocator's dump: {used / 2**20:.0f} MiB in use, {asked / 2**20:.0f} MiB asked for",
    )


def sizes(dump: LogEvent | None, tensors: Sequence[LogEvent]) -> Iterator[Evidence]:
    """Yield the least that is needed, the pool, and who holds it: the largest classes of chunks and what grows with the batch."""
    if dump is None:
        return
    source = f"log, line {dump.line}"
    asked, used, limit = (number(dump, name) for name in ("asked_bytes", "in_use_bytes", "limit_bytes"))
    if asked and used:
        yield Evidence(label="needed at least", value=used + asked, unit="bytes", source=source)
    if limit:
        yield Evidence(label="pool", value=limit, unit="bytes", source=source)
    holders = list(_holders(dump))
    for size, count in holders[:CLASSES_SHOWN]:
        if size * count < WORTH_SHOWING * (limit or used):
            break
        chunks = f"{count} x {size / 2**20:.4g} MiB"
        yield Evidence(label=f"held by {chunks}", value=size * count, unit="bytes", source=source)
    batch, alike = _batch(tensors), sum(count for size, count in holders if size == asked)
    if batch and alike:
        words = f"the {alike} of {asked / 2**20:.4g} MiB, like the one asked for, if the batch is {batch}"
        yield Evidence(label="grows with batch", value=words, source=source)


def _batch(tensors: Sequence[LogEvent]) -> int:
    return next((first for each in tensors if (first := _first_dimension(each)) > 1), 0)


def _first_dimension(tensor: LogEvent) -> int:
    first, _, rest = tensor.values.get("shape", "").strip("[]").partition(",")
    return int(first) if rest and first.strip().isdecimal() else 0


def _holders(dump: LogEvent) -> Iterator[tuple[int, int]]:
    for part in dump.values.get("holders", "").split():
        count, _, size = part.partition("x")
        if count.isdecimal() and size.isdecimal():
            yield int(size), int(count)
