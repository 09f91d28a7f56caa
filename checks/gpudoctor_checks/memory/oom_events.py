"""Reads the events of a run that ended out of memory: where the allocator lies, what one chunk holds, who held the rest."""

from __future__ import annotations

import re

from gpudoctor.sdk import Gpus, Log, LogEvent, Missing
from gpudoctor_checks.said import events

SIZE = re.compile(r"\d+")
SLIVER_SHARE = 0.5  # policy: TensorFlow takes nearly all of a free card (gpu_device.cc), so less than half was free
SLIVER_BYTES = 1 << 30  # policy: no card that trains has less than 2 GiB, so a pool below 1 GiB is a rest
SLIVER_MB, ROUND_MB = SLIVER_BYTES >> 20, 128  # policy: who sets a limit takes a round number, a rest is none
SHARED = re.compile(
    r"\b(?:two|three|several|second|another|other)\b[^.;]{0,40}\b(?:notebook|kernel|process|session|training|script)(?:e?s)?\b[^.;]{0,30}\bGPU",
    re.IGNORECASE,
)
ONE_ARRAY_SHARE = 0.7  # policy: one chunk with most of the pool is no layer's


def on_host(event: LogEvent) -> bool:
    allocator, device = event.values.get("allocator", "").lower(), event.values.get("device", "").lower()
    return "cpu" in allocator + device or "host" in allocator  # a device's name begins with /job:localhost


def number(event: LogEvent, name: str) -> int:
    text = event.values.get(name, "")
    return int(text) if text.isdecimal() else 0


def one_example(tensors: list[LogEvent]) -> bool:
    """Return whether every tensor that found no room holds one example only: then no smaller batch is left.

    A kernel of 1x1 has two ones in front; what comes out of a layer has its height or channels behind the batch.
    """
    sizes = [SIZE.findall(each.values.get("shape", "")) for each in tensors]
    return bool(sizes) and all(len(each) > 2 and each[0] == "1" and each[1] != "1" for each in sizes)


def one_array(event: LogEvent) -> bool:
    sizes = [part.partition("x")[2] for part in event.values.get("holders", "").split()]
    largest = max((int(size) for size in sizes if size.isdecimal()), default=0)
    pool = number(event, "pool_bytes") or number(event, "limit_bytes")
    return bool(pool) and largest >= ONE_ARRAY_SHARE * pool


def held_before(
    log: Log, dumps: list[LogEvent], device: tuple[LogEvent, ...], gpus: Gpus | None
) -> tuple[LogEvent, ...] | None:
    """Return the lines that show that the GPU was held before TensorFlow came; None for none."""
    totals = [each.memory.total_bytes for each in gpus or () if not isinstance(each.memory.total_bytes, Missing)]
    card = max(totals, default=0)
    least = SLIVER_SHARE * card if card else SLIVER_BYTES
    slivers = [each for each in dumps if 0 < number(each, "limit_bytes") < least and not on_host(each)]
    context = [each for each in device if each.values.get("why") == "context" or "call" in each.values]
    rest = [
        each
        for each in events(log, "device_memory")
        if number(each, "free_bytes") < (SLIVER_SHARE * (number(each, "total_bytes") or card) or SLIVER_BYTES)
    ]
    found = (*slivers, *context, *(rest if device else _at_start(log, least)))
    return found or None


def listed_before(log: Log, lines: tuple[LogEvent, ...], gpus: Gpus | None) -> tuple[LogEvent, ...]:
    """Return the processes that nvidia-smi lists with most of the GPU before memory ran out; () where it is this one's pool."""
    totals = [each.memory.total_bytes for each in gpus or () if not isinstance(each.memory.total_bytes, Missing)]
    least = (1 - SLIVER_SHARE) * max(totals, default=0)
    own = [each for each in lines if number(each, "limit_bytes") >= least]
    taken = [each for each in events(log, "gpu_created") if number(each, "memory_mb") << 20 >= least]
    if not least or len(totals) > 1 or own or taken:
        return ()
    first = min((each.line for each in lines), default=0)
    listed = [each for each in events(log, "gpu_process") if each.line < first]
    return tuple(each for each in listed if number(each, "used_mib") << 20 >= least)


def _at_start(log: Log, least: float) -> tuple[LogEvent, ...]:
    """Return what TensorFlow 1.x found free when it first saw the GPU, before it took anything itself; () for enough."""
    told = [each for each in events(log, "device_memory") if each.text.startswith(("Free memory", "totalMemory"))]
    ended = any(events(log, "oom", "oom_bare", "oom_tensor"))
    pools = [each for each in events(log, "gpu_created") if 0 < number(each, "memory_mb") < SLIVER_MB]
    if ended and pools and not any(number(each, "memory_mb") % ROUND_MB == 0 for each in pools):
        return tuple(pools)
    first = told[:1]
    return tuple(each for each in first if ended and number(each, "free_bytes") < (_share(each) or least))


def _share(event: LogEvent) -> float:
    return SLIVER_SHARE * number(event, "total_bytes")
