"""Who holds a GPU, as far as /proc may be believed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gpudoctor.collect.processes import DOUBTFUL, HOST_PID_NAMESPACE, NOT_HERE, Processes, descendants
from gpudoctor.model.gpu import GpuProcess
from gpudoctor.model.missing import Missing


def _process(root: Path, pid: int, *, maps: str = "", namespace: str = HOST_PID_NAMESPACE) -> GpuProcess:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text("python3\n", encoding="utf-8")
    (folder / "cmdline").write_bytes(b"python3\0-m\0train\0")
    (folder / "maps").write_text(maps, encoding="utf-8")
    own = root / "proc/self/ns"
    own.mkdir(parents=True)
    (own / "pid").symlink_to(namespace)
    return Processes(root).describe(pid, "compute", 5)


def test_on_the_host_a_pid_is_what_it_says(tmp_path: Path) -> None:
    assert _process(tmp_path, 77) == GpuProcess(
        pid=77,
        kind="compute",
        memory_bytes=5,
        name="python3",
        user=f"uid {os.getuid()}",
        command="python3 -m train",
        own=True,
        notebook=False,
    )


def test_in_a_container_a_pid_of_the_host_may_be_somebody_else_here(tmp_path: Path) -> None:
    process = _process(tmp_path, 77, namespace="pid:[4026532500]")
    assert (process.name, process.user, process.command, process.own) == (DOUBTFUL,) * 4
    assert process.memory_bytes == 5


def test_in_a_container_a_process_that_has_the_driver_mapped_is_the_one(tmp_path: Path) -> None:
    maps = "7f00-7f01 rw-s 0 00:06 5 /dev/nvidia0\n"
    assert _process(tmp_path, 77, maps=maps, namespace="pid:[4026532500]").name == "python3"


def test_a_pid_that_nobody_has(tmp_path: Path) -> None:
    process = Processes(tmp_path).describe(4, "graphics", Missing("not_available"))
    assert (process.name, process.own) == (NOT_HERE, NOT_HERE)


def test_a_real_process_of_this_machine() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        name = Processes(Path("/")).describe(child.pid, "compute", 0).name
        assert name == DOUBTFUL or str(name).startswith("python")


def test_a_process_and_all_that_came_from_it_even_in_a_table_that_holds_a_circle() -> None:
    assert descendants(10, {10: 1, 11: 10, 12: 1, 13: 11, 14: 13}) == (10, 11, 13, 14)
    assert descendants(10, {10: 12, 11: 10, 12: 11}) == (10, 11, 12)
    assert descendants(99, {}) == (99,)
