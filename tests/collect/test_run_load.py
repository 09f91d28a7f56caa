"""The load beside a run: what the host and the command's processes do, and for how long a quota held them back."""

from __future__ import annotations

import os
from pathlib import Path

from gpudoctor.collect.control_group import read_hold
from gpudoctor.collect.processes import descendants, parents_of_all
from gpudoctor.collect.run_load import RunMeter
from gpudoctor.model.missing import Missing


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_tightest_quota_and_how_long_it_stopped_the_group(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/slice/job\n")
    groups = tmp_path / "sys/fs/cgroup"
    write(groups / "cpu.max", "max 100000\n")
    write(groups / "slice/cpu.max", "200000 100000\n")
    write(groups / "slice/cpu.stat", "usage_usec 9\nthrottled_usec 2500000\n")
    write(groups / "slice/job/cpu.max", "max 100000\n")
    assert read_hold(tmp_path) == (2.0, 2.5)


def test_version_1_counts_nanoseconds(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "3:cpu,cpuacct:/docker/0123\n")
    folder = tmp_path / "sys/fs/cgroup/cpu,cpuacct"
    write(folder / "cpu.cfs_quota_us", "150000\n")
    write(folder / "cpu.cfs_period_us", "100000\n")
    write(folder / "cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n")
    assert read_hold(tmp_path) == (1.5, 1.5)


def test_without_a_quota_there_is_no_limit(tmp_path: Path) -> None:
    write(tmp_path / "sys/fs/cgroup/cpu.max", "max 100000\n")
    write(tmp_path / "sys/fs/cgroup/cpu.stat", "throttled_usec 0\n")
    assert read_hold(tmp_path) == (Missing("unlimited"), 0.0)


def test_percentages_need_two_readings(tmp_path: Path) -> None:
    write(tmp_path / "proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\nintr 1\n")
    meter = RunMeter(tmp_path)
    first = meter.read([os.getpid()])
    write(tmp_path / "proc/stat", "cpu  130 0 120 740 110 0 0 0 0 0\nintr 1\n")
    second = meter.read([os.getpid()])
    assert "cpu_percent" not in first
    assert (second["cpu_percent"], second["io_wait_percent"]) == (50.0, 10.0)


def test_a_machine_that_tells_nothing_gives_a_row_with_the_time_alone(tmp_path: Path) -> None:
    assert set(RunMeter(tmp_path).read([os.getpid()])) == {"at"}


def test_the_command_is_counted_with_its_children(tmp_path: Path) -> None:
    tail = " ".join(["0"] * 9 + ["100", "50", "10", "5", "0", "0", "3", "0", "0", "0", "7"])
    for pid, parent in ((10, 1), (11, 10), (12, 1)):
        write(tmp_path / f"proc/{pid}/stat", f"{pid} (python train) S {parent} {tail}")
        write(tmp_path / f"proc/{pid}/io", "rchar: 1\nread_bytes: 4096\n")
    row = RunMeter(tmp_path).read(descendants(10, parents_of_all(tmp_path)))
    assert (row["command_threads"], row["command_read_bytes"]) == (6, 8192)
    assert row["command_cpu_s"] == 2 * 165 / os.sysconf("SC_CLK_TCK")
    assert row["command_rss_bytes"] == 2 * 7 * os.sysconf("SC_PAGE_SIZE")
