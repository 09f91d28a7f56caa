"""Samples fall on all moments of a step alike, however long it is: their pauses are in step with nothing."""

from __future__ import annotations

import pytest

from gpudoctor.profile.agent import sampler

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
