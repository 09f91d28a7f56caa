"""The kernel's counters of the host: ticks of the CPUs and sizes of memory, as they stand; rates are made by who reads twice.

psutil knows these figures by name and on more systems; its import costs more memory than a whole sampler, and every read
of it parses more than is shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from gpudoctor.collect.text_file import text_of

KIBI = 1024
IDLE, WAITING, KINDS = 3, 4, 8  # places in a line of /proc/stat; guests' time is in user time already (man 5 proc_stat)


class Ticks(NamedTuple):
    """What a CPU did since boot. Idle and waiting for a disk are not busy."""

    busy: int
    waiting: int
    total: int

    def percent(self, before: Ticks | None, kind: Literal["busy", "waiting"] = "busy") -> float | None:
        """Return the share of one kind since another reading; None without one, or where the clock stood still."""
        if before is None or self.total <= before.total:
            return None
        done = self.busy - before.busy if kind == "busy" else self.waiting - before.waiting
        return max(0.0, min(100.0, 100 * done / (self.total - before.total)))


def cpu_ticks(root: Path) -> dict[str, Ticks]:
    """Return the ticks by name: "cpu" is all of them."""
    found: dict[str, Ticks] = {}
    for line in text_of(root / "proc/stat").splitlines():
        if not line.startswith("cpu"):
            break
        name, *numbers = line.split()
        told = [int(each) for each in numbers[:KINDS]]
        if len(told) > WAITING:
            total = sum(told)
            found[name] = Ticks(total - told[IDLE] - told[WAITING], told[WAITING], total)
    return found


def memory_bytes(root: Path) -> dict[str, int]:
    """Return the rows of /proc/meminfo."""
    rows = (line.split() for line in text_of(root / "proc/meminfo").splitlines())
    return {row[0].rstrip(":"): int(row[1]) * KIBI for row in rows if len(row) > 1 and row[1].isdecimal()}
