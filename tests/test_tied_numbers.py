"""Numbers that stand in two places, because neither may import the other, are one number."""

from __future__ import annotations

from gpudoctor.probe import child_ladder
from gpudoctor.tui import session_source
from gpudoctor.tui.sampling import run_reader
from gpudoctor_checks.memory import ways_out


def test_the_share_of_a_pool_that_tensors_can_take_is_the_one_that_was_measured() -> None:
    assert ways_out.USABLE_SHARE == child_ladder.USABLE_SHARE


def test_a_replay_plays_as_many_readings_as_its_reader_keeps() -> None:
    assert session_source.MOST_READINGS == run_reader.MOST_SECONDS
