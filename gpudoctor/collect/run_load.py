"""The host's load and that of a command's own process tree, from /proc and the control group."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from gpudoctor.collect.control_group import read_hold
from gpudoctor.collect.host_counters import Ticks, cpu_ticks, memory_bytes
from gpudoctor.collect.text_file import text_of
from gpudoctor.model.missing import Missing


class RunMeter:
    """Reads the counters once a second; percentages need the reading before."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._before: Ticks | None = None
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._page = os.sysconf("SC_PAGE_SIZE")

    def read(self, tree: Collection[int]) -> Mapping[str, object]:
        """Return a row of `host_samples`, with the sums over these processes; what cannot be read is absent."""
        return {"at": time.time(), **self._cpu(), **self._memory(), **self._quota(), **self._tree(tree)}

    def _cpu(self) -> dict[str, object]:
        now = cpu_ticks(self._root).get("cpu")
        if now is None:
            return {}
        busy, waiting = now.percent(self._before), now.percent(self._before, "waiting")
        self._before = now
        row: dict[str, object] = {"cores": os.cpu_count()}
        return row if busy is None else {**row, "cpu_percent": busy, "io_wait_percent": waiting}

    def _memory(self) -> dict[str, object]:
        known = memory_bytes(self._root)
        if "MemTotal" not in known or "MemAvailable" not in known:
            return {}
        return {
            "memory_used_bytes": known["MemTotal"] - known["MemAvailable"],
            "memory_total_bytes": known["MemTotal"],
        }

    def _quota(self) -> dict[str, object]:
        """Return the control group's limit and how long it has held the group back."""
        told = zip(("quota_cores", "throttled_s"), read_hold(self._root), strict=True)
        return {name: value for name, value in told if not isinstance(value, Missing)}

    def _tree(self, tree: Collection[int]) -> dict[str, object]:
        """Return the sums over those that live; of the ended ones CPU time stays counted."""
        cpu = rss = read = threads = usable = 0
        for each in tree:
            usable = max(usable, self._usable(each))
            fields = text_of(self._root / f"proc/{each}/stat").rpartition(")")[2].split()
            if len(fields) > 21:
                cpu += sum(int(number) for number in fields[11:15])
                rss += int(fields[21]) * self._page
                threads += int(fields[17])
            for line in text_of(self._root / f"proc/{each}/io").splitlines():
                if line.startswith("read_bytes:"):
                    read += int(line.split()[1])
        if threads == 0:
            return {}
        allowed: dict[str, object] = {"usable_cores": usable} if usable else {}
        return {
            **allowed,
            "command_cpu_s": cpu / self._ticks,
            "command_rss_bytes": rss,
            "command_read_bytes": read,
            "command_threads": threads,
        }

    def _usable(self, pid: int) -> int:
        """Return how many CPUs a process may run on; the mask names those, too, that the machine could have but has not."""
        for line in text_of(self._root / f"proc/{pid}/status").splitlines():
            if line.startswith("Cpus_allowed:"):
                return int(line.split()[1].replace(",", ""), 16).bit_count()
        return 0
