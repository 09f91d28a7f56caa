"""The load of the host as the screen shows it: rates between two reads of the kernel's counters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from gpudoctor.collect.host_counters import Ticks, cpu_ticks, memory_bytes
from gpudoctor.collect.text_file import text_of
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.tui.messages import HostLoad

SECTOR_BYTES = 512  # of /proc/diskstats, whatever the disk's own sector (Documentation/admin-guide/iostats.rst)
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

Flows = tuple[int, int, int, int]  # bytes read, written, received, sent


class HostMeter:
    """Reads the host's counters and remembers the last ones."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._proc = root / "proc"
        self._root = root
        self._cpus: dict[str, Ticks] = {}
        self._flows: Flows | None = None
        self._at = 0.0

    def read(self, now_s: float) -> HostLoad:
        """Return the load since the last read."""
        cpus = cpu_ticks(self._root)
        percents = {name: ticks.percent(self._cpus.get(name)) for name, ticks in cpus.items()}
        total = percents.pop("cpu", NOT_TOLD)
        self._cpus = cpus
        memory = memory_bytes(self._root)
        rates = self._rates(now_s)
        return HostLoad(
            cpu_percent=FIRST if total is None else total,
            core_percents=tuple(each for each in percents.values() if each is not None),
            load_1_min=_load(text_of(self._proc / "loadavg")),
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
        disks, links = text_of(self._proc / "diskstats"), text_of(self._proc / "net/dev")
        if not disks and not links:
            return (NOT_TOLD,) * 4
        flows = (*_disk_bytes(disks), *_net_bytes(links))
        before, seconds = self._flows, now_s - self._at
        self._flows, self._at = flows, now_s
        if before is None or seconds <= 0:
            return (FIRST,) * 4
        return tuple(max(0, new - old) / seconds for new, old in zip(flows, before, strict=True))


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
