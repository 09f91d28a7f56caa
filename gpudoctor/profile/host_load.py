"""The host's load and that of the command's own process tree, from /proc and the control group."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpudoctor.profile.spool import parents_of_all

KIBI, MICRO = 1024, 1_000_000


class HostMeter:
    """Reads the counters once a second; percentages need the reading before."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._before: tuple[int, int, int] | None = None
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._page = os.sysconf("SC_PAGE_SIZE")

    def read(self, pid: int) -> Mapping[str, object]:
        """Return a row of `host_samples`; what cannot be read is absent."""
        return {"at": time.time(), **self._cpu(), **self._memory(), **self._quota(), **self._tree(pid)}

    def _cpu(self) -> dict[str, object]:
        line = _text(self._root / "proc/stat").partition("\n")[0].split()
        if len(line) < 9:
            return {}
        numbers = [int(each) for each in line[1:9]]
        waiting, total = numbers[4], sum(numbers)
        busy = total - numbers[3] - waiting
        before, self._before = self._before, (busy, waiting, total)
        row: dict[str, object] = {"cores": os.cpu_count()}
        if before is not None and total > before[2]:
            row["cpu_percent"] = 100 * (busy - before[0]) / (total - before[2])
            row["io_wait_percent"] = 100 * (waiting - before[1]) / (total - before[2])
        return row

    def _memory(self) -> dict[str, object]:
        rows = (line.split() for line in _text(self._root / "proc/meminfo").splitlines())
        known = {row[0].rstrip(":"): int(row[1]) * KIBI for row in rows if len(row) > 1 and row[1].isdecimal()}
        if "MemTotal" not in known or "MemAvailable" not in known:
            return {}
        return {
            "memory_used_bytes": known["MemTotal"] - known["MemAvailable"],
            "memory_total_bytes": known["MemTotal"],
        }

    def _quota(self) -> dict[str, object]:
        """Return the control group's limit and how long it has held the group back (version 2, else 1)."""
        row: dict[str, object] = {}
        for folder in self._groups():
            limit = _text(folder / "cpu.max").split()
            if not limit:
                limit = [_text(folder / f"cpu.cfs_{each}_us").strip() for each in ("quota", "period")]
            if len(limit) == 2 and limit[0].isdecimal() and limit[1].isdecimal():
                row["quota_cores"] = int(limit[0]) / int(limit[1])
            told = dict(line.split() for line in _text(folder / "cpu.stat").splitlines() if len(line.split()) == 2)
            if told.get("throttled_usec", "").isdecimal():
                row["throttled_s"] = int(told["throttled_usec"]) / MICRO
            elif told.get("throttled_time", "").isdecimal():
                row["throttled_s"] = int(told["throttled_time"]) / MICRO / 1000
            if row:
                return row
        return row

    def _groups(self) -> Iterator[Path]:
        base = self._root / "sys/fs/cgroup"
        for line in _text(self._root / "proc/self/cgroup").splitlines():
            number, _, rest = line.partition(":")
            names, _, path = rest.partition(":")
            if number == "0":
                yield base / path.lstrip("/")
                yield base
            elif "cpu" in names.split(","):
                yield base / "cpu" / path.lstrip("/")
                yield base / "cpu"

    def _tree(self, pid: int) -> dict[str, object]:
        """Return the sums over the command and its descendants that live; of the ended ones CPU time stays counted."""
        parents, cpu, rss, read, threads = parents_of_all(self._root), 0, 0, 0, 0
        for each in _tree_of(pid, parents):
            fields = _text(self._root / f"proc/{each}/stat").rpartition(")")[2].split()
            if len(fields) > 21:
                cpu += sum(int(number) for number in fields[11:15])
                rss += int(fields[21]) * self._page
                threads += int(fields[17])
            for line in _text(self._root / f"proc/{each}/io").splitlines():
                if line.startswith("read_bytes:"):
                    read += int(line.split()[1])
        if threads == 0:
            return {}
        return {
            "command_cpu_s": cpu / self._ticks,
            "command_rss_bytes": rss,
            "command_read_bytes": read,
            "command_threads": threads,
        }


def _tree_of(pid: int, parents: Mapping[int, int]) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for each, parent in parents.items():
        children.setdefault(parent, []).append(each)
    waiting = [pid]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += children.get(each, [])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
