"""Samples fall on all moments of a step alike, however long it is: their pauses are in step with nothing."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from gpudoctor.profile.agent import core, sampler

HOT = 0.4  # the part of each step that is to be seen
SAMPLES = 300  # twelve bursts


@pytest.mark.parametrize("step_s", [0.005, 0.010, 0.020, 0.040])
def test_the_share_of_a_part_of_each_step_is_right_at_every_phase(
    step_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "sums", sampler.Sums())
    pauses = [sampler.pause_s() for _ in range(SAMPLES)]
    for phase in range(20):
        at, seen_s = phase / 20 * step_s, 0.0
        for pause in pauses:
            at += pause
            seen_s += pause * (at % step_s < HOT * step_s)
        assert seen_s / sum(pauses) == pytest.approx(HOT, abs=0.08)


def test_a_pause_is_ten_milliseconds_on_the_mean_and_never_half_as_long_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "sums", sampler.Sums())
    pauses = [sampler.pause_s() for _ in range(SAMPLES)]
    assert sum(pauses) / SAMPLES == pytest.approx(0.010, rel=0.03)
    assert 0.005 <= min(pauses) < 0.0055
    assert 0.0145 < max(pauses) <= 0.015


@pytest.fixture
def switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize("interval_s", [0.005, 0.0005, 0.0001, 0.00005, 0.00002])
def test_a_burst_leaves_the_switch_interval_as_it_was(interval_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.process, "off", False)
    monkeypatch.setattr(core.process, "queue", deque[Any]())
    sys.setswitchinterval(interval_s)
    before = sys.getswitchinterval()
    for _ in range(3):
        sampler.burst(0.02)
    assert sys.getswitchinterval() == before


@pytest.mark.usefixtures("switching")
def test_a_change_of_the_users_during_a_burst_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.process, "off", False)
    monkeypatch.setattr(core.process, "queue", deque[Any]())
    changed = iter([None])

    def pause() -> float:
        for _ in changed:
            sys.setswitchinterval(0.003)
        return 0.005

    monkeypatch.setattr(sampler, "pause_s", pause)
    sampler.burst(0.02)
    assert sys.getswitchinterval() == 0.003


@pytest.mark.usefixtures("switching")
def test_a_child_that_is_forked_during_a_burst_has_the_users_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.process, "off", False)
    monkeypatch.setattr(core.process, "queue", deque[Any]())
    sys.setswitchinterval(0.004)
    seen: list[float] = []

    def forked() -> float:
        """Fork in the middle of the burst, and tell what the child finds behind what the agent does there."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            sampler._begin_anew()  # pyright: ignore[reportPrivateUsage]  # what core calls in a child
            os.write(writing, str(sys.getswitchinterval()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        seen.append(float(os.read(reading, 100)))
        return 0.005

    monkeypatch.setattr(sampler, "pause_s", forked)
    sampler.burst(0.01)
    assert seen
    assert set(seen) == {0.004}
    assert sys.getswitchinterval() == 0.004
