"""Limits that a control group (version 1 or 2) sets on CPU and memory, read under a machine root.

`os.cpu_count()` and MemTotal look like the answer and are wrong in every container with a limit: they tell the host's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpudoctor.collect.text_file import text_of
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass

MOUNT = "sys/fs/cgroup"
UNLIMITED = Missing("unlimited")
NOT_READ = Missing("no control group found")
NOT_TOLD = Missing("not told by this control group")
NO_LIMIT_BYTES = 1 << 60  # version 1 writes a number near 2**63 for "no limit" (kernel: mm/memcontrol-v1.c)
# Time for which a quota stopped the group, of cpu.stat: version 2 in microseconds, version 1 in nanoseconds (cgroup-v2.rst,
# sched-bwc.rst of the kernel).
STOPPED = (("throttled_usec", 1_000_000), ("throttled_time", 1_000_000_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The tightest limit on the way from this process's group to the root; Missing("unlimited") where there is none.

    `quota_hit_share`: in what share of its periods the group with that quota was stopped, of all since it was made.
    """

    quota_cores: Maybe[float]
    quota_hit_share: Maybe[float]
    memory_bytes: Maybe[int]
    memory_free_bytes: Maybe[int]


def read_limits(root: Path) -> Limits:
    """Return the limits of the control group that this process is in. Never raises."""
    groups = _own_groups(root)
    quotas, cpu = _quotas(root)
    memory = [*_unified(root, groups), *_version_1(root, groups, "memory")]
    tightest_quota = min(quotas, key=lambda each: each[0], default=None)
    sizes = [size for folder in memory if (size := _memory(folder)) is not None]
    tightest = min(sizes, default=None)
    return Limits(
        quota_cores=tightest_quota[0] if tightest_quota else UNLIMITED if cpu else NOT_READ,
        quota_hit_share=_hit_share(tightest_quota[1]) if tightest_quota else UNLIMITED if cpu else NOT_READ,
        memory_bytes=tightest[0] if tightest else UNLIMITED if memory else NOT_READ,
        memory_free_bytes=tightest[1] if tightest else UNLIMITED if memory else NOT_READ,
    )


def read_hold(root: Path) -> tuple[Maybe[float], Maybe[float]]:
    """Return the tightest quota in cores, and for how many seconds its group was stopped since it was made."""
    quotas, folders = _quotas(root)
    if not folders:
        return NOT_READ, NOT_READ
    quota, folder = min(quotas, key=lambda each: each[0], default=(UNLIMITED, folders[0]))
    told = ((_told(folder, name, "cpu.stat"), unit) for name, unit in STOPPED)
    return quota, next((number / unit for number, unit in told if number is not None), NOT_TOLD)


def _quotas(root: Path) -> tuple[list[tuple[float, Path]], list[Path]]:
    """Return the quotas with their folders, and the folders that could have one."""
    groups = _own_groups(root)
    folders = [*_unified(root, groups), *_version_1(root, groups, "cpu", "cpu,cpuacct", "cpuacct,cpu")]
    return [(quota, folder) for folder in folders if (quota := _quota(folder)) is not None], folders


def _unified(root: Path, groups: dict[str, str]) -> list[Path]:
    return [*_existing(root, "", groups.get("", "/")), *_existing(root, "unified", groups.get("", "/"))]


def _own_groups(root: Path) -> dict[str, str]:
    """Return the path of this process's group by controller; version 2 has the empty name."""
    groups: dict[str, str] = {}
    for line in text_of(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _version_1(root: Path, groups: dict[str, str], controller: str, *mounts: str) -> list[Path]:
    path = groups.get(controller, "/")
    return [folder for mount in (controller, *mounts) for folder in _existing(root, mount, path)]


def _existing(root: Path, mount: str, path: str) -> Iterator[Path]:
    """Yield the folders from the group up to the mount; in a container the path may be the host's and not exist."""
    top = root / MOUNT / mount
    if not top.is_dir():
        return
    parts = [part for part in path.split("/") if part and part != ".."]
    for depth in range(len(parts), -1, -1):
        folder = top.joinpath(*parts[:depth])
        if depth == 0 or folder.is_dir():
            yield folder


def _quota(folder: Path) -> float | None:
    words = text_of(folder / "cpu.max").split()
    if len(words) < 2:
        words = [text_of(folder / "cpu.cfs_quota_us").strip(), text_of(folder / "cpu.cfs_period_us").strip()]
    quota, period = words[0], words[1]
    if not (quota.isdecimal() and period.isdecimal() and int(period)):
        return None  # "max", -1 or no such file
    return round(int(quota) / int(period), 3)


def _hit_share(folder: Path) -> Maybe[float]:
    periods, stopped = (_stat(folder, name, "cpu.stat") for name in ("nr_periods", "nr_throttled"))
    return round(stopped / periods, 3) if periods else Missing("no period counted")


def _memory(folder: Path) -> tuple[int, int] | None:
    """Return limit and what is free under it; the page cache counts as free, as the kernel drops it first."""
    for limit_name, usage_name, cache_name in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        limit, usage = text_of(folder / limit_name).strip(), text_of(folder / usage_name).strip()
        if limit.isdecimal() and int(limit) < NO_LIMIT_BYTES:
            used = int(usage) - _stat(folder, cache_name) if usage.isdecimal() else 0
            return int(limit), max(0, int(limit) - max(0, used))
    return None


def _stat(folder: Path, name: str, file: str = "memory.stat") -> int:
    return _told(folder, name, file) or 0


def _told(folder: Path, name: str, file: str) -> int | None:
    for line in text_of(folder / file).splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdecimal():
            return int(value)
    return None
