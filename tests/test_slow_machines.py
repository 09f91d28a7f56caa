"""A promised time stretches with the machine's own work, and not without end."""

from __future__ import annotations

from tests.slow_machines import MOST, in_time, slowness


def not_asked() -> float:
    raise AssertionError("a quiet machine is held to the number itself")


def test_what_is_in_time_is_not_measured_against_the_machine() -> None:
    assert in_time(0.9, 1.0, slower=not_asked)
    assert in_time(3.9, 1.0, after_s=3.0, slower=not_asked)


def test_on_a_slower_machine_the_work_may_take_longer_and_the_fixed_part_may_not() -> None:
    assert in_time(1.9, 1.0, slower=lambda: 2.0)
    assert not in_time(2.1, 1.0, slower=lambda: 2.0)
    assert in_time(4.9, 1.0, after_s=3.0, slower=lambda: 2.0)
    assert not in_time(5.1, 1.0, after_s=3.0, slower=lambda: 2.0)


def test_no_load_excuses_more_than_the_bound() -> None:
    assert in_time(MOST - 0.1, 1.0, slower=lambda: 1000.0)
    assert not in_time(MOST + 0.1, 1.0, slower=lambda: 1000.0)


def test_a_machine_is_never_called_faster_than_the_one_of_the_promise() -> None:
    assert slowness() >= 1
