"""The sampler against the fake NVML: it tells what is there, and a driver that hangs, crashes or refuses never stops it."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.tui.messages import Reading, Traffic
from gpudoctor.tui.sampling.link import SamplerLink
from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, Scenario, environment

INTERVAL_S = 0.25
PATIENCE_S = 60.0
ALL = {**SCENARIOS, **FURTHER_SCENARIOS}


@contextmanager
def watching(
    scenario: Scenario, folder: Path, monkeypatch: pytest.MonkeyPatch, **limits_s: float
) -> Generator[SamplerLink, None, None]:
    """Start a sampler on the scenario's machine."""
    variables = environment(scenario, folder)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    link = SamplerLink(variables["GPUDOCTOR_SYSROOT"], INTERVAL_S, **limits_s)
    try:
        yield link
    finally:
        link.close()


def wait_for(link: SamplerLink, wanted: Callable[[Reading], bool]) -> Reading:
    """Return the first reading that is wanted."""
    limit = time.monotonic() + PATIENCE_S
    last: Reading | None = None
    while time.monotonic() < limit:
        select.select([link.fd], [], [], 0.2)
        reading = link.take()
        link.check()
        if reading is not None:
            last = reading
            if wanted(reading):
                return reading
    pytest.fail(f"no such reading; trouble {link.trouble!r}, last {last}")


def test_eight_gpus_move_and_their_fields_are_the_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["wave_8"], tmp_path, monkeypatch) as link:
        first = wait_for(link, lambda each: len(each.gpus) == 8)
        moved = wait_for(
            link, lambda each: each.gpus[3].utilization.gpu_percent != first.gpus[3].utilization.gpu_percent
        )
        assert [each.index for each in moved.gpus] == list(range(8))
        assert first.nvml.driver_version == "580.95.05"
        traffic = wait_for(link, lambda each: len(each.traffic) == 8).traffic[5]
        assert isinstance(traffic, Traffic)
        assert not isinstance(traffic.received_bytes_per_s, Missing)
        assert not isinstance(traffic.sent_bytes_per_s, Missing)
        assert traffic.received_bytes_per_s > traffic.sent_bytes_per_s


def test_mig_instances_come_with_their_own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["mig_instances"], tmp_path, monkeypatch) as link:
        told = wait_for(link, lambda each: bool(each.migs)).migs[0]
    assert [(each.place, each.profile, each.gpu_instance, each.compute_instance) for each in told] == [
        (0, "1g.10gb", 7, 0),
        (1, "1g.10gb", 8, 1),
    ]
    assert [each.memory.used_bytes for each in told] == [1234 << 20, 1235 << 20]
    assert [each.memory.total_bytes for each in told] == [9856 << 20, 9857 << 20]


def test_slow_fields_stay_known_between_slow_ticks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["base"], tmp_path, monkeypatch) as link:
        first = wait_for(link, lambda each: len(each.gpus) == 2)
        for _ in range(3):
            later = wait_for(link, lambda each: bool(each.gpus))
            assert later.gpus[0].ecc == first.gpus[0].ecc
            assert later.gpus[0].power.limit_w == first.gpus[0].power.limit_w
            assert later.gpus[0].throttle_reasons == ("HwSlowdown", "HwThermalSlowdown")


def test_a_hang_is_said_and_the_host_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["hang"], tmp_path, monkeypatch, stale_after_s=0.5, hung_after_s=4.0) as link:
        wait_for(link, lambda _: link.trouble.startswith("NVML does not answer since"))
        reading = wait_for(link, lambda _: link.restarts > 0)
        assert not isinstance(reading.host.memory_total_bytes, Missing)


def test_a_crash_is_said_and_asked_again_ever_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["segfault"], tmp_path, monkeypatch) as link:
        wait_for(link, lambda _: link.restarts >= 2)
        assert "signal 11" in link.trouble
        assert link.backoff_s >= 4.0


def test_a_driver_that_refuses_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["init_driver_not_loaded"], tmp_path, monkeypatch) as link:
        reading = wait_for(link, lambda each: each.nvml.status == "driver_not_loaded")
        assert reading.gpus == ()
        assert link.trouble == ""


def test_a_gpu_that_falls_off_is_lost_and_the_other_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = ALL["base"].with_lines("gpu0.fail_after_ms=1500,15")
    with watching(scenario, tmp_path, monkeypatch) as link:
        wait_for(link, lambda each: bool(each.gpus) and each.gpus[0].status == "ok")
        lost = wait_for(link, lambda each: bool(each.gpus) and each.gpus[0].status == "gpu_lost")
        assert lost.gpus[1].status == "ok"


def test_a_sampler_that_stands_still_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["healthy"], tmp_path, monkeypatch) as link:
        wait_for(link, lambda each: bool(each.gpus))
        stopped = link.pid
        os.kill(stopped, signal.SIGSTOP)
        link._hung_after_s = 1.0  # pyright: ignore[reportPrivateUsage]
        limit = time.monotonic() + PATIENCE_S
        while link.restarts == 0:
            assert time.monotonic() < limit
            time.sleep(0.05)
            link.check()
        link._hung_after_s = PATIENCE_S  # pyright: ignore[reportPrivateUsage]
        again = wait_for(link, lambda each: bool(each.gpus))
        assert again.gpus
        assert link.pid != stopped


def test_the_sampler_ends_when_its_parent_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(ALL["healthy"], tmp_path, monkeypatch) as link:
        wait_for(link, lambda each: bool(each.gpus))
        link.child.stop_listening()
        assert link.child.ended(PATIENCE_S) == 0


def test_processes_are_told_once_each_with_all_their_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.getpid()
    scenario = ALL["healthy_8"].with_lines(f"gpu2.process={me},1073741824", f"gpu5.process={me},2147483648")
    variables = environment(scenario, tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    link = SamplerLink("/", INTERVAL_S)
    try:
        reading = wait_for(link, lambda each: any(row.pid == me for row in each.processes))
        row = next(each for each in reading.processes if each.pid == me)
        assert {2, 5} <= set(row.gpus)
        assert row.own is True
        assert row.tensorflow is False
        assert not isinstance(row.host_memory_bytes, Missing)
        link.tell("tree 1")
        grown = wait_for(link, lambda each: any(row.kind == "child" for row in each.processes))
        assert link.pid in {row.pid for row in grown.processes if row.kind == "child"}
    finally:
        link.close()
