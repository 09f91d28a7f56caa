"""The host as this process sees it: system, CPUs, memory and their limits, read from /proc and /sys under a machine root.

psutil knows most of it by name; on Linux its import would cost more than all these reads together, so it serves elsewhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gpudoctor.collect.container import container_kind
from gpudoctor.collect.control_group import Limits, read_limits
from gpudoctor.collect.storage import read_storage
from gpudoctor.collect.text_file import text_of, word_of
from gpudoctor.model.machine import Cpu, Host
from gpudoctor.model.missing import Maybe, Missing

THIS_MACHINE = Path("/")
SYSTEMS = {"win32": "windows", "cygwin": "windows", "darwin": "darwin"}
ARCHITECTURES = {"AMD64": "x86_64", "ARM64": "aarch64", "arm64": "aarch64"}
FIRST_CPU_BYTES = 4096  # the model stands with the first CPU; reading on asks every core for its clock
KIBI = 1024
NOT_TOLD = Missing("not told by this system")


def collect_host(*, root: Path = THIS_MACHINE, environ: Mapping[str, str] | None = None) -> Host:
    """Return the host; a fact that cannot be read is missing. Never raises on Linux."""
    environ = os.environ if environ is None else environ
    system = SYSTEMS.get(sys.platform, "linux" if sys.platform.startswith("linux") else sys.platform)
    if system != "linux":
        return _elsewhere(system)
    kernel = word_of(root / "proc/sys/kernel/osrelease") or (os.uname().release if root == THIS_MACHINE else "")
    limits = read_limits(root)
    total, available = _memory(root, limits)
    return Host(
        os=system,
        distribution=_distribution(root),
        kernel=kernel or NOT_TOLD,
        arch=word_of(root / "proc/sys/kernel/arch") or os.uname().machine,
        libc=_libc(root),
        wsl="microsoft" in kernel.lower() or "-wsl" in kernel.lower(),
        container=container_kind(root, environ),
        cpu=replace(_cpu(root), quota_cores=limits.quota_cores, quota_hit_share=limits.quota_hit_share),
        memory_bytes=total,
        memory_available_bytes=available,
        shm_bytes=_shared_memory(root),
        storage=read_storage(root, environ),
    )


def _elsewhere(system: str) -> Host:
    """Windows and macOS: TensorFlow has no NVIDIA GPU there, so what psutil tells is enough."""
    try:
        import psutil  # noqa: PLC0415  # needed on these systems only
    except ImportError as error:
        return Host(os=system, container="none", wsl=False, memory_bytes=Missing(f"psutil: {error}"))
    memory = psutil.virtual_memory()
    machine = os.environ.get("PROCESSOR_ARCHITECTURE", "") if system == "windows" else os.uname().machine
    return Host(
        os=system,
        arch=ARCHITECTURES.get(machine, machine) or NOT_TOLD,
        wsl=False,
        container="none",
        cpu=Cpu(cores=psutil.cpu_count() or NOT_TOLD, quota_cores=Missing("unlimited")),
        memory_bytes=memory.total,
        memory_available_bytes=memory.available,
    )


def _cpu(root: Path) -> Cpu:
    cores = _count(word_of(root / "sys/devices/system/cpu/online"))
    affinity = _count(_fields(root / "proc/self/status").get("Cpus_allowed_list", ""))
    if isinstance(cores, Missing):
        cores = text_of(root / "proc/cpuinfo").count("processor\t:") or NOT_TOLD
    if root == THIS_MACHINE:  # some sandboxes hide these files
        cores = (os.cpu_count() or NOT_TOLD) if isinstance(cores, Missing) else cores
        affinity = len(os.sched_getaffinity(0)) if isinstance(affinity, Missing) else affinity
    return Cpu(model=_cpu_model(root), cores=cores, affinity=affinity)


def _cpu_model(root: Path) -> Maybe[str]:
    try:
        with (root / "proc/cpuinfo").open("rb") as file:
            head = file.read(FIRST_CPU_BYTES).decode(errors="replace")
    except OSError:
        return NOT_TOLD
    for line in head.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return NOT_TOLD


def _count(ranges: str) -> Maybe[int]:
    """Count the CPUs of a list like "0-3,8"."""
    total = 0
    for part in ranges.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            return NOT_TOLD
        total += int(last or first) - int(first) + 1
    return total


def _memory(root: Path, limits: Limits) -> tuple[Maybe[int], Maybe[int]]:
    told = _fields(root / "proc/meminfo")
    sizes: list[Maybe[int]] = []
    limit_of = (limits.memory_bytes, limits.memory_free_bytes)
    for name, limit in zip(("MemTotal", "MemAvailable"), limit_of, strict=True):
        number = told.get(name, "").partition(" ")[0]
        size = int(number) * KIBI if number.isdigit() else None
        bounds = [each for each in (size, limit) if isinstance(each, int)]
        sizes.append(min(bounds) if bounds else NOT_TOLD)
    return sizes[0], sizes[1]


def _distribution(root: Path) -> Maybe[str]:
    for place in ("etc/os-release", "usr/lib/os-release"):
        told = _fields(root / place, "=")
        name, version = told.get("NAME", "").strip("\"'"), told.get("VERSION_ID", "").strip("\"'")
        if name:
            return f"{name} {version}".strip()
    return NOT_TOLD


def _libc(root: Path) -> Maybe[str]:
    """Return the C library: the one of this process here; under a root, what its files are called."""
    if any(root.glob("lib/ld-musl-*")):
        return "musl"
    if root != THIS_MACHINE:
        return Missing("not read under a machine root")
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or NOT_TOLD
    except (ValueError, OSError):
        return NOT_TOLD


def _shared_memory(root: Path) -> Maybe[int]:
    if root == THIS_MACHINE:
        try:
            room = os.statvfs("/dev/shm")  # noqa: S108  # its size is the fact
        except OSError as error:
            return Missing(error.strerror or "cannot be asked")
        return room.f_blocks * room.f_frsize
    for line in text_of(root / "proc/mounts").splitlines():
        words = line.split()
        if len(words) > 3 and words[1] == "/dev/shm":  # noqa: S108  # see above
            size = next((each[5:] for each in words[3].split(",") if each.startswith("size=")), "")
            return int(size[:-1]) * KIBI if size[:-1].isdigit() and size.endswith("k") else NOT_TOLD
    return NOT_TOLD


def _fields(path: Path, separator: str = ":") -> dict[str, str]:
    pairs = (line.partition(separator) for line in text_of(path).splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}
