"""The host, read from described machines and from this one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.collect.container import container_kind
from gpudoctor.collect.control_group import read_limits
from gpudoctor.collect.host import collect_host
from gpudoctor.model.machine import Host
from gpudoctor.model.missing import Missing
from tests.sysroot import Machine, build

GIB = 1 << 30
UNLIMITED = Missing("unlimited")


def _host(tmp_path: Path, **options: Any) -> Host:  # the options of Machine, which checks them
    return collect_host(root=build(tmp_path / "root", Machine(**options), {}).root, environ={})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_described_machine(tmp_path: Path) -> None:
    host = _host(tmp_path)
    assert (host.os, host.distribution, host.kernel) == ("linux", "Ubuntu 24.04", "6.8.0-60-generic")
    assert (host.wsl, host.container) == (False, "none")
    assert (host.cpu.model, host.cpu.cores) == ("AMD EPYC 7763 64-Core Processor", 16)
    assert host.cpu.quota_cores == UNLIMITED
    assert (host.memory_bytes, host.memory_available_bytes) == (263921788 * 1024, 201234568 * 1024)


def test_a_described_machine_takes_nothing_from_this_one(tmp_path: Path) -> None:
    host = collect_host(root=tmp_path, environ={})
    for fact in (host.distribution, host.kernel, host.libc, host.cpu.model, host.cpu.cores, host.cpu.affinity):
        assert isinstance(fact, Missing)
    for fact in (host.memory_bytes, host.memory_available_bytes, host.shm_bytes):
        assert isinstance(fact, Missing)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_this_machine() -> None:
    host = collect_host()
    assert (host.cpu.cores, host.cpu.affinity) == (os.cpu_count(), len(os.sched_getaffinity(0)))
    assert (host.kernel, host.arch) == (os.uname().release, os.uname().machine)
    assert isinstance(host.memory_bytes, int)
    assert isinstance(host.memory_available_bytes, int)
    assert 0 < host.memory_available_bytes <= host.memory_bytes


def test_a_quota_stands_beside_the_cores(tmp_path: Path) -> None:
    cpu = _host(tmp_path, cpu_quota=2.5).cpu
    assert (cpu.cores, cpu.quota_cores) == (16, 2.5)


def test_affinity_counts_the_allowed_processors(tmp_path: Path) -> None:
    root = build(tmp_path / "root", Machine(), {}).root
    _write(root / "proc/self/status", "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8,10-11\n")
    assert collect_host(root=root, environ={}).cpu.affinity == 7


def test_wsl_is_known_by_its_kernel(tmp_path: Path) -> None:
    assert _host(tmp_path, wsl=True).wsl is True


def test_musl_is_told(tmp_path: Path) -> None:
    _write(tmp_path / "lib/ld-musl-x86_64.so.1", "")
    assert collect_host(root=tmp_path, environ={}).libc == "musl"


def test_the_size_of_shared_memory_comes_from_the_mounts(tmp_path: Path) -> None:
    _write(tmp_path / "proc/mounts", "shm /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n")
    assert collect_host(root=tmp_path, environ={}).shm_bytes == 64 << 20


@pytest.mark.parametrize("kind", ["docker", "podman", "kubernetes"])
def test_containers_of_described_machines(kind: str, tmp_path: Path) -> None:
    assert _host(tmp_path, container=kind).container == kind


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        ({}, {}, "none"),
        ({".dockerenv": ""}, {}, "docker"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({}, {"container": "podman"}, "podman"),
        ({".singularity.d/env": ""}, {}, "singularity"),
        ({".singularity.d/env": ""}, {"APPTAINER_CONTAINER": "/x.sif"}, "apptainer"),
        ({".singularity.d/env": ""}, {"SINGULARITY_NAME": "x.sif"}, "singularity"),
        ({"run/systemd/container": "lxc\n"}, {}, "lxc"),
        ({"proc/1/cgroup": "0::/docker/0123\n"}, {}, "docker"),
        ({"proc/self/cgroup": "12:cpu:/kubepods/burstable/pod1/2\n"}, {}, "kubernetes"),
        ({"proc/1/cgroup": "0::/lxc.payload.web\n"}, {}, "lxc"),
        ({"run/systemd/container": "wsl\n"}, {}, "none"),
        ({"run/systemd/container": "rocket\n"}, {}, "rocket"),
    ],
)
def test_the_marks_of_containers(files: dict[str, str], environ: dict[str, str], kind: str, tmp_path: Path) -> None:
    for name, text in files.items():
        _write(tmp_path / name, text)
    assert container_kind(tmp_path, environ) == kind


def test_version_2_limits_of_an_inner_group_and_of_those_around_it(tmp_path: Path) -> None:
    _write(tmp_path / "proc/self/cgroup", "0::/slice/job\n")
    groups = tmp_path / "sys/fs/cgroup"
    _write(groups / "slice/cpu.max", "200000 100000\n")
    _write(groups / "slice/job/cpu.max", "max 100000\n")
    _write(groups / "slice/job/memory.max", f"{8 * GIB}\n")
    _write(groups / "slice/job/memory.current", f"{5 * GIB}\n")
    _write(groups / "slice/job/memory.stat", f"anon 1\ninactive_file {2 * GIB}\n")
    _write(groups / "slice/memory.max", "max\n")
    limits = read_limits(tmp_path)
    assert (limits.quota_cores, limits.memory_bytes, limits.memory_free_bytes) == (2.0, 8 * GIB, 5 * GIB)


def test_version_1_limits_where_the_path_is_the_hosts(tmp_path: Path) -> None:
    _write(tmp_path / "proc/self/cgroup", "4:memory:/docker/0123\n3:cpu,cpuacct:/docker/0123\n")
    groups = tmp_path / "sys/fs/cgroup"
    _write(groups / "cpu,cpuacct/cpu.cfs_quota_us", "150000\n")
    _write(groups / "cpu,cpuacct/cpu.cfs_period_us", "100000\n")
    _write(groups / "memory/memory.limit_in_bytes", f"{4 * GIB}\n")
    _write(groups / "memory/memory.usage_in_bytes", f"{GIB}\n")
    limits = read_limits(tmp_path)
    assert (limits.quota_cores, limits.memory_bytes, limits.memory_free_bytes) == (1.5, 4 * GIB, 3 * GIB)


def test_version_1_writes_no_limit_as_a_huge_number(tmp_path: Path) -> None:
    _write(tmp_path / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    _write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    _write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    limits = read_limits(tmp_path)
    assert (limits.quota_cores, limits.memory_bytes) == (UNLIMITED, UNLIMITED)


def test_a_memory_limit_lowers_what_the_host_has(tmp_path: Path) -> None:
    root = build(tmp_path / "root", Machine(), {}).root
    _write(root / "sys/fs/cgroup/memory.max", f"{16 * GIB}\n")
    _write(root / "sys/fs/cgroup/memory.current", f"{10 * GIB}\n")
    host = collect_host(root=root, environ={})
    assert (host.memory_bytes, host.memory_available_bytes) == (16 * GIB, 6 * GIB)


def test_without_control_groups_it_is_said(tmp_path: Path) -> None:
    assert read_limits(tmp_path).quota_cores == Missing("no control group found")


def test_how_often_the_quota_stopped_the_group_is_counted_by_the_kernel(tmp_path: Path) -> None:
    groups = tmp_path / "sys/fs/cgroup"
    _write(groups / "cpu.max", "200000 100000\n")
    _write(groups / "cpu.stat", "usage_usec 90\nnr_periods 200\nnr_throttled 86\nthrottled_usec 5\n")
    assert read_limits(tmp_path).quota_hit_share == 0.43


def test_a_quota_that_no_period_counted_tells_no_share(tmp_path: Path) -> None:
    _write(tmp_path / "sys/fs/cgroup/cpu.max", "200000 100000\n")
    assert isinstance(read_limits(tmp_path).quota_hit_share, Missing)
