"""Tracings again and again: their time counts once, however they are nested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.profile.calls import tracings
from tests.profile.timelines import PROCESS, loop, readings, session, trace


def test_a_tracing_inside_another_one_is_counted_in_its_time_alone() -> None:
    outer = tuple(trace(at, at + 2.0, "train") for at in (1.0, 4.0, 7.0))
    inner = tuple(trace(at + 0.5, at + 1.5, "step") for at in (1.0, 4.0, 7.0))
    alone = trace(10.0, 10.5, "step")
    recording = session(loop(), steps=readings((0.0, 1, 0.0), (20.0, 90, 0.0)), traces=(*outer, *inner, alone))
    found = tracings(recording, PROCESS)
    assert {each.name: (each.count, round(each.total_s, 6)) for each in found.functions} == {
        "train": (3, 4.0),
        "step": (4, 0.5),
    }
    assert (found.whole_s, round(found.share, 6)) == (20.0, 0.225)


def test_a_function_traced_again_while_another_is_traced_for_the_first_time_counts() -> None:
    again = tuple(trace(at, at + 0.4, "step") for at in (1.0, 2.0, 3.0))
    recording = session(
        loop(), steps=readings((0.0, 1, 0.0), (20.0, 90, 0.0)), traces=(*again, trace(0.5, 4.0, "train"))
    )
    recording = replace(recording, traces=tuple(sorted(recording.traces, key=lambda each: each.at)))
    assert tracings(recording, PROCESS).share == pytest.approx(0.8 / 20.0)
