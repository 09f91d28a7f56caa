"""The time left: it starts with what is expected, falls, and grows with a slow machine."""

from __future__ import annotations

from gpudoctor.model.observed import Trial
from gpudoctor.probe import wire
from gpudoctor.probe.clock import START_EXPECTED_S, Clock
from gpudoctor.probe.plan import BY_NAME, PLANS, chosen


class Bar:
    def __init__(self) -> None:
        self.told: list[tuple[str, int, int, float]] = []

    def trial(self, name: str, done: int, total: int, left_s: float) -> None:
        """Keep it."""
        self.told.append((name, done, total, left_s))


def test_at_first_the_time_left_is_what_is_expected_of_all() -> None:
    clock = Clock(chosen(["baseline", "fragmentation"]), None)
    expected = BY_NAME["baseline"].expected_s + BY_NAME["fragmentation"].expected_s
    assert clock.left_s() == expected + 2 * START_EXPECTED_S  # two sets of variables, two imports


def test_at_the_end_nothing_is_left() -> None:
    clock = Clock(chosen(["cpu"]), None)
    for message in (
        wire.Devices(visible_gpus=0),
        wire.Begin(name="cpu"),
        wire.Advance(name="cpu", share=0.5),
        wire.Finished(trial=Trial(name="cpu")),
    ):
        clock.listen(message)
    assert clock.left_s() == 0


def test_the_bar_hears_of_every_start_with_the_count_of_what_is_done() -> None:
    bar = Bar()
    clock = Clock(chosen(["baseline", "cpu"]), bar)
    clock.starts()
    clock.listen(wire.Begin(name="baseline"))
    clock.listen(wire.Finished(trial=Trial(name="baseline")))
    clock.listen(wire.Begin(name="cpu"))
    assert [told[:3] for told in bar.told] == [("start", 0, 2), ("baseline", 0, 2), ("cpu", 1, 2)]
    assert all(told[3] > 0 for told in bar.told)


def test_a_share_out_of_range_does_not_make_the_time_negative() -> None:
    clock = Clock(chosen(["cpu"]), None)
    clock.listen(wire.Devices(visible_gpus=0))
    clock.listen(wire.Begin(name="cpu"))
    clock.listen(wire.Advance(name="cpu", share=7.0))
    assert clock.left_s() >= 0


def test_the_standard_trials_are_expected_to_take_less_than_a_minute() -> None:
    assert Clock(PLANS, None).left_s() < 60
