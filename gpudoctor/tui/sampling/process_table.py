"""The processes that hold GPUs, as the host sees them; with `tree` also their children (loader workers, say).

Who a process is, is asked once for each start of it; a pid alone would take a new process for its dead predecessor.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpudoctor.collect.processes import Processes
from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.tui.messages import ProcessLoad

TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
GONE = Missing("no such process to be seen from here")
FIRST = Missing("needs a second reading")
TENSORFLOW = b"libtensorflow_framework"  # what every TensorFlow process has mapped, whatever its build


@dataclass(frozen=True, slots=True)
class _Stat:
    parent_pid: int
    cpu_ticks: int
    started: int
    resident_bytes: int


@dataclass(frozen=True, slots=True)
class _Known:
    started: int
    about: GpuProcess
    tensorflow: Maybe[bool]


class ProcessTable:
    """Remembers who the processes are and how much CPU they had used at the last tick."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root, self._proc = root, root / "proc"
        self._known: dict[int, _Known] = {}
        self._ticks: dict[int, tuple[int, int]] = {}
        self._at = 0.0

    def read(self, gpus: Iterable[Gpu], now_s: float, *, tree: bool = False) -> tuple[ProcessLoad, ...]:
        """Return one row a process, whatever number of GPUs it holds."""
        held = _by_pid(gpus)
        stats = {pid: _stat(self._proc / str(pid)) for pid in held}
        children = self._children(set(held)) if tree else {}
        stats.update(children)
        seconds, self._at = now_s - self._at, now_s
        rows = [self._row(pid, uses, stats[pid], seconds) for pid, uses in held.items()]
        rows += [self._row(pid, [], stat, seconds) for pid, stat in children.items()]
        self._forget(stats)
        return tuple(rows)

    def _row(self, pid: int, uses: list[tuple[int, GpuProcess]], stat: _Stat | None, seconds: float) -> ProcessLoad:
        known = self._who(pid, stat)
        about = known.about
        return ProcessLoad(
            pid=pid,
            parent_pid=GONE if stat is None else stat.parent_pid,
            kind=uses[0][1].kind if uses else "child",
            gpus=tuple(index for index, _ in uses),
            gpu_memory_bytes=_total(each.memory_bytes for _, each in uses),
            host_memory_bytes=GONE if stat is None else stat.resident_bytes,
            cpu_percent=self._cpu_percent(pid, stat, seconds),
            user=about.user,
            command=about.command if either(about.command, "") else about.name,
            tensorflow=known.tensorflow,
            own=about.own,
        )

    def _who(self, pid: int, stat: _Stat | None) -> _Known:
        started = -1 if stat is None else stat.started
        known = self._known.get(pid)
        if known is None or known.started != started:
            about = Processes(self._root).describe(pid, "compute", FIRST)
            known = self._known[pid] = _Known(started, about, _tensorflow(self._proc / str(pid)))
        return known

    def _cpu_percent(self, pid: int, stat: _Stat | None, seconds: float) -> Maybe[float]:
        if stat is None:
            return GONE
        before = self._ticks.get(pid)
        self._ticks[pid] = (stat.started, stat.cpu_ticks)
        if before is None or before[0] != stat.started or seconds <= 0:
            return FIRST
        return 100 * (stat.cpu_ticks - before[1]) / TICKS_PER_S / seconds

    def _children(self, roots: set[int]) -> dict[int, _Stat]:
        """Return the descendants of the roots; one pass over all processes, so only where it was asked for."""
        try:
            pids = [int(each) for each in os.listdir(self._proc) if each.isdecimal()]  # noqa: PTH208  # names are wanted
        except OSError:
            return {}
        stats = {pid: stat for pid in pids if (stat := _stat(self._proc / str(pid))) is not None}
        family, grown = set(roots), True
        while grown:
            fresh = {pid for pid, stat in stats.items() if stat.parent_pid in family and pid not in family}
            family |= fresh
            grown = bool(fresh)
        return {pid: stats[pid] for pid in sorted(family - roots)}

    def _forget(self, living: Mapping[int, object]) -> None:
        for table in (self._known, self._ticks):
            for pid in [pid for pid in table if pid not in living]:
                del table[pid]


def _by_pid(gpus: Iterable[Gpu]) -> dict[int, list[tuple[int, GpuProcess]]]:
    held: dict[int, list[tuple[int, GpuProcess]]] = {}
    for gpu in gpus:
        for process in either(gpu.processes, ()):
            held.setdefault(process.pid, []).append((gpu.index, process))
    return held


def _total(amounts: Iterable[Maybe[int]]) -> Maybe[int]:
    known = list(amounts)
    unknown = [each for each in known if isinstance(each, Missing)]
    return unknown[0] if unknown else sum(each for each in known if not isinstance(each, Missing))


def _stat(folder: Path) -> _Stat | None:
    """Read /proc/PID/stat; the name in it may hold spaces and brackets, so fields count from the last bracket."""
    try:
        fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return _Stat(int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[19]), int(fields[21]) * PAGE_BYTES)
    except (OSError, ValueError, IndexError):
        return None


def _tensorflow(folder: Path) -> Maybe[bool]:
    try:
        return TENSORFLOW in (folder / "maps").read_bytes()
    except PermissionError:
        return Missing("no_permission")
    except OSError:
        return GONE
