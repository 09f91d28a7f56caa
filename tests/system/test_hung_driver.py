"""A driver call that never returns: the scan ends in time all the same, and lets go of its caller's pipes.

A process in an uninterruptible sleep survives SIGKILL. No test can put one there; it makes kill and wait do nothing instead.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, environment
from tests.system.command import Run, assert_clean, gpudoctor
from tests.system.scenes import SOURCE_DEADLINE_S, assert_ends_in_time

HANGS = {
    "one NVML call": SCENARIOS["hang"],
    "nvmlInit": SCENARIOS["base"].with_lines("hang=init"),
    "the handle": SCENARIOS["base"].with_lines("gpu1.hang=handle"),
    "NVML and libcuda": FURTHER_SCENARIOS["hang_at_init"],
}
CUDA_HANGS = replace(FURTHER_SCENARIOS["healthy"], cu_init="hang")
LIVES_ON = """
import os
os.kill = os.killpg = lambda *_: None
"""
# Nothing that was forked ever ends as far as waiting tells; what subprocess starts is the test's own affair.
NEVER_REAPED = """
real = os.waitpid
os.waitpid = lambda pid, options: (0, 0) if options & os.WNOHANG else real(pid, options)
"""


@pytest.fixture(autouse=True)
def _no_process_is_left(tmp_path: Path) -> Iterator[None]:
    """End the stuck children that a test leaves behind, found by the scenario file in their environment."""
    yield
    for number in left_over(tmp_path):
        os.kill(number, signal.SIGKILL)


def left_over(folder: Path) -> list[int]:
    """Return the processes that have that folder in their environment."""
    mark = os.fsencode(folder)
    numbers = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [number for number in numbers if number != os.getpid() and mark in _environ(Path(f"/proc/{number}"))]


def _environ(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


def sitecustomize(folder: Path, text: str) -> dict[str, str]:
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


def scan(env: dict[str, str], *, timeout_s: float | None = None) -> Run:
    """Scan with a driver that hangs, and assert that the scan ends within a second of its deadline."""
    options = () if timeout_s is None else ("--timeout", str(timeout_s))

    def once() -> Run:
        return gpudoctor("scan", "--level", "quick", "--json", *options, env=env)

    run = once()
    assert_clean(run)
    assert_ends_in_time(run, once, timeout_s or SOURCE_DEADLINE_S)
    assert run.document["summary"]["status"] != "healthy"
    return run


@pytest.mark.parametrize("what", HANGS)
@pytest.mark.parametrize(
    "python_text", ["", LIVES_ON, LIVES_ON + NEVER_REAPED], ids=["killable", "unkillable", "unreaped"]
)
def test_the_scan_ends_within_a_second_of_its_deadline(what: str, python_text: str, tmp_path: Path) -> None:
    scan(environment(HANGS[what], tmp_path) | sitecustomize(tmp_path / "site", python_text), timeout_s=1)


def test_the_default_deadline_is_kept_too_when_everything_hangs_and_nothing_dies(tmp_path: Path) -> None:
    env = environment(HANGS["NVML and libcuda"], tmp_path)
    scan(env | sitecustomize(tmp_path / "site", LIVES_ON + NEVER_REAPED))


def test_a_hung_libcuda_alone_is_said(tmp_path: Path) -> None:
    env = environment(CUDA_HANGS, tmp_path)
    cuda = scan(env, timeout_s=1).document["snapshot"]["cuda"]
    assert cuda["status"] == "timeout"
    assert cuda["libcuda_path"].endswith("/libcuda.so.580.95.05")
    assert "libcuda (timeout after 1 s)" in gpudoctor("scan", "--level", "quick", "--timeout", "1", env=env).out


def test_what_was_read_before_the_hang_is_kept(tmp_path: Path) -> None:
    snapshot = scan(environment(HANGS["one NVML call"], tmp_path)).document["snapshot"]
    assert snapshot["nvml"]["driver_version"] == "580.95.05"
    assert [gpu["name"] for gpu in snapshot["gpus"]] == ["NVIDIA H100 80GB HBM3"] * 2


def test_the_environment_block_ends_with_a_hung_driver_too(tmp_path: Path) -> None:
    env = environment(HANGS["NVML and libcuda"], tmp_path)

    def once() -> Run:
        return gpudoctor("env", "--timeout", "1", env=env)

    run = once()
    assert_clean(run)
    assert_ends_in_time(run, once, 1.0)
    assert (run.code, "timeout" in run.out) == (0, True)


def test_a_mistake_in_the_selection_is_told_at_once_and_leaves_no_child(tmp_path: Path) -> None:
    env = environment(HANGS["NVML and libcuda"], tmp_path)
    run = gpudoctor("scan", "--level", "quick", "--json", "--select", "GD999", "--timeout", "3600", env=env)
    assert run.code == 2
    assert left_over(tmp_path) == []
