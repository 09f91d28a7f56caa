"""The load of the host from /proc, as rates between two reads.

psutil knows these figures by name and on more systems; its import costs more memory than the whole sampler, and every read
of it parses more than is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.tui.messages import HostLoad

SECTOR_BYTES = 512  # of /proc/diskstats, whatever the disk's own sector (Documentation/admin-guide/iostats.rst)
KIBI = 1024
FIRST = Missing("needs a second reading")
NOT_TOLD = Missing("not told by this system")
WHOLE_DISK = re.compile(
    r"(sd[a-z]+|vd[a-z]+|xvd[a-z]+|hd[a-z]+|nvme\d+n\d+|mmcblk\d+)$"
)  # partitions would count twice
BELOW_A_CARD = (
    "lo",
    "veth",
    "docker",
    "br-",
    "virbr",
    "tap",
    "tun",
    "cni",
    "flannel",
)  # traffic that a card counts too

Ticks = tuple[int, int]  # busy, all
Flows = tuple[int, int, int, int]  # bytes read, written, received, sent


class HostMeter:
    """Reads the host's counters and remembers the last ones."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._proc = root / "proc"
        self._cpus: dict[str, Ticks] = {}
        self._flows: Flows | None = None
        self._at = 0.0

    def read(self, now_s: float) -> HostLoad:
        """Return the load since the last read."""
        lines = _text(self._proc / "stat").splitlines()
        cpus = dict(_cpu_ticks(lines))
        shares = {name: _busy_percent(self._cpus.get(name), ticks) for name, ticks in cpus.items()}
        total = shares.pop("cpu", NOT_TOLD)
        cores = tuple(each for each in shares.values() if not isinstance(each, Missing))
        self._cpus = cpus
        memory = _memory(_text(self._proc / "meminfo"))
        rates = self._rates(now_s)
        return HostLoad(
            cpu_percent=total,
            core_percents=cores,
            load_1_min=_load(_text(self._proc / "loadavg")),
            memory_used_bytes=_difference(memory, "MemTotal", "MemAvailable"),
            memory_total_bytes=memory.get("MemTotal", NOT_TOLD),
            swap_used_bytes=_difference(memory, "SwapTotal", "SwapFree"),
            swap_total_bytes=memory.get("SwapTotal", NOT_TOLD),
            disk_read_bytes_per_s=rates[0],
            disk_write_bytes_per_s=rates[1],
            net_received_bytes_per_s=rates[2],
            net_sent_bytes_per_s=rates[3],
        )

    def _rates(self, now_s: float) -> tuple[Maybe[float], ...]:
        disks, links = _text(self._proc / "diskstats"), _text(self._proc / "net/dev")
        if not disks and not links:
            return (NOT_TOLD,) * 4
        flows = (*_disk_bytes(disks), *_net_bytes(links))
        before, seconds = self._flows, now_s - self._at
        self._flows, self._at = flows, now_s
        if before is None or seconds <= 0:
            return (FIRST,) * 4
        return tuple(max(0, new - old) / seconds for new, old in zip(flows, before, strict=True))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _cpu_ticks(lines: Iterable[str]) -> Iterable[tuple[str, Ticks]]:
    """Yield name, busy and all ticks; idle and waiting for a disk are not busy (man 5 proc_stat)."""
    for line in lines:
        if not line.startswith("cpu"):
            break
        name, *numbers = line.split()
        told = [int(each) for each in numbers[:8]]
        yield name, (sum(told) - sum(told[3:5]), sum(told))


def _busy_percent(before: Ticks | None, now: Ticks) -> Maybe[float]:
    if before is None or now[1] <= before[1]:
        return FIRST
    return max(0.0, min(100.0, 100 * (now[0] - before[0]) / (now[1] - before[1])))


def _memory(text: str) -> dict[str, int]:
    rows = (line.split() for line in text.splitlines())
    return {row[0].rstrip(":"): int(row[1]) * KIBI for row in rows if len(row) > 1 and row[1].isdecimal()}


def _difference(memory: Mapping[str, int], total: str, free: str) -> Maybe[int]:
    return memory[total] - memory[free] if total in memory and free in memory else NOT_TOLD


def _load(text: str) -> Maybe[float]:
    first = text.partition(" ")[0]
    return float(first) if first else NOT_TOLD


def _disk_bytes(text: str) -> tuple[int, int]:
    rows = [row for row in (line.split() for line in text.splitlines()) if len(row) > 9 and WHOLE_DISK.match(row[2])]
    return sum(int(row[5]) for row in rows) * SECTOR_BYTES, sum(int(row[9]) for row in rows) * SECTOR_BYTES


def _net_bytes(text: str) -> tuple[int, int]:
    received = sent = 0
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        numbers = rest.split()
        if colon and len(numbers) > 8 and not name.strip().startswith(BELOW_A_CARD):
            received += int(numbers[0])
            sent += int(numbers[8])
    return received, sent
