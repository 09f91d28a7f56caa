"""Loops that fetch nothing from tf.data: which of their parts is the step, and what of it lies between TensorFlow's calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import HotLine, HotLines, StepTimes
from gpudoctor.model.session import LoopRecord, PhaseRecord, Session, StepPartRecord, StepSample
from gpudoctor.model.words import StepKind
from gpudoctor.profile.breakdown import WindowShare, step_times
from gpudoctor.profile.steps import Loop, main_loop
from tests.profile.timelines import PROCESS, START, loop, readings, session

SECONDS = 10


def part(number: int, kind: StepKind) -> LoopRecord:
    """Return the row of a part."""
    return replace(loop(number, label="loop", kind=kind, graph=f"part {number}"), line=10 + number)


def samples(
    number: int, *, per_s: float, inside: float = 0.6, first: int = 1, last: int = SECONDS
) -> tuple[StepSample, ...]:
    """Return a reading a second of a part that is called so often, with this share of the time inside of calls."""
    return tuple(
        StepSample(
            process=PROCESS,
            loop=number,
            at=START + at,
            count=round(per_s * (at - first + 1)),
            inside_s=inside * (at - first + 1),
        )
        for at in range(first, last + 1)
    )


def told(number: int, kind: StepKind, *, calls: int = 100, fed: int = 0, holds: str = "") -> StepPartRecord:
    return StepPartRecord(process=PROCESS, part=number, kind=kind, calls=calls, fed=fed, holds=holds, inside_s=1.0)


def chosen(recorded: Session) -> Loop:
    found = main_loop(recorded)
    assert found is not None
    return found


def of(*parts: tuple[int, StepKind, float], step_parts: tuple[StepPartRecord, ...] = ()) -> Session:
    """Return a session of parts: number, kind, calls a second."""
    rows = tuple(part(number, kind) for number, kind, _ in parts)
    steps = tuple(each for number, _, per_s in parts for each in samples(number, per_s=per_s))
    return replace(session(*rows, steps=steps), step_parts=step_parts)


def test_of_gradients_and_updates_the_update_is_the_step() -> None:
    assert chosen(of((0, "gradient", 10), (1, "update", 10))).record.kind == "update"


def test_several_gradients_for_one_update_are_one_step() -> None:
    assert chosen(of((0, "gradient", 40), (1, "update", 10))).steps == 100


def test_of_two_networks_the_one_that_is_updated_less_often_counts() -> None:
    assert chosen(of((0, "update", 50), (1, "update", 10))).steps == 100


def test_what_is_updated_in_a_twentieth_of_the_steps_is_no_step() -> None:
    assert chosen(of((0, "update", 20), (1, "update", 1))).steps == 200


def test_a_function_with_the_update_inside_outranks_a_gradient_beside_it() -> None:
    parts = (told(0, "gradient"), told(1, "function", holds="gradient update"))
    assert chosen(of((0, "gradient", 10), (1, "function", 10), step_parts=parts)).record.kind == "function"


def test_a_loop_that_ran_before_for_a_shorter_time_is_another_one() -> None:
    early = samples(0, per_s=3, last=2)
    late = tuple(replace(each, at=each.at + 5) for each in samples(1, per_s=10))
    rows = part(0, "update"), replace(part(1, "update"), made_at=START + 5)
    assert chosen(session(*rows, steps=(*early, *late))).record.loop == 1


@pytest.mark.parametrize(("fed", "kind"), [(100, "eager"), (5, "function")])
def test_a_fetching_loop_is_the_loop_only_where_its_batches_go_into_the_steps(fed: int, kind: str) -> None:
    """One batch in a hundred steps is an evaluation's: its fetches are no steps."""
    rows = loop(0, label="loop", kind="eager"), part(1, "function")
    fetched = readings(*((at, 10 * at, 0.1 * at) for at in range(1, SECONDS + 1)))
    parts = (told(1, "function", fed=fed, holds="gradient update"),)
    recorded = replace(session(*rows, steps=(*fetched, *samples(1, per_s=10))), step_parts=parts)
    assert chosen(recorded).record.kind == kind


def times(inside: float, lines: HotLines | None, *windows: WindowShare, kind: StepKind = "function") -> StepTimes:
    recorded = session(part(0, kind), steps=samples(0, per_s=10, inside=inside))
    return step_times(recorded, chosen(recorded), lines=lines, machine=None, windows=windows)


def sampled(own: float) -> HotLines:
    """Return what stacks showed: the user's own NumPy, and TensorFlow for the rest."""
    line = HotLine(
        file="train.py", line=5, function="batch", role="main", activity="numpy", leaf="numpy.sort", share=own
    )
    return HotLines(lines=(line, replace(line, line=9, activity="tensorflow", share=1 - own)), sampled_s=3.0)


def near(value: float | Missing, wanted: float) -> bool:
    return not isinstance(value, Missing) and abs(value - wanted) < 1e-6


def test_the_time_between_the_calls_is_the_users_where_samples_say_the_same() -> None:
    shares = times(0.3, sampled(0.64)).shares
    assert near(shares.host, 0.7)
    assert near(shares.compute, 0.3)
    assert isinstance(shares.input, Missing)


def test_what_tensorflow_does_between_the_calls_is_not_the_users() -> None:
    assert near(times(0.3, sampled(0.2)).shares.host, 0.2)


def test_what_lies_between_the_calls_is_the_users_where_a_window_shows_it_outside_of_tensorflow() -> None:
    seen = WindowShare(steps=30, step_s=0.1, input_share=Missing("nothing is fetched"), outside_share=0.66)
    assert near(times(0.3, sampled(0.2), seen).shares.host, 0.7)
    other = replace(seen, outside_share=0.25)
    assert near(times(0.3, sampled(0.2), other).shares.host, 0.2)


def test_without_samples_the_time_between_the_calls_stands() -> None:
    assert near(times(0.3, None).shares.host, 0.7)


def test_samples_never_tell_more_than_there_is_between_the_calls() -> None:
    assert near(times(0.9, sampled(0.4)).shares.host, 0.1)


@pytest.mark.parametrize(("seen", "agree", "sure"), [(0.66, True, 0.95), (0.3, False, 0.5)])
def test_a_window_is_held_against_the_time_between_the_calls(seen: float, *, agree: bool, sure: float) -> None:
    window = WindowShare(steps=30, step_s=0.1, input_share=Missing("nothing is fetched"), outside_share=seen)
    found = times(0.3, sampled(0.68), window)
    assert (found.agree, found.methods, found.confidence) == (agree, ("stamps", "window"), sure)
    assert near(found.window_host_share, seen)
    assert near(found.stamped_host_share, 0.7)


def test_calls_that_fill_the_time_leave_no_wait() -> None:
    found = times(0.97, None)
    assert near(found.shares.input, 0.03)
    assert found.input_class == "not"


def test_what_keras_does_between_calls_of_train_on_batch_is_not_the_users_python() -> None:
    row = replace(loop(0, label="train_on_batch", kind="call"), line=10)
    calls = tuple(
        PhaseRecord(process=PROCESS, phase=at, kind="predict", started_at=START + at, ended_at=START + at + 0.5)
        for at in range(SECONDS)
    )
    recorded = replace(session(row, steps=samples(0, per_s=10, inside=0.1)), phases=calls)
    times = step_times(recorded, chosen(recorded), lines=None, machine=None)
    assert times.shares.host == pytest.approx(0.4, abs=0.01)
    alone = replace(recorded, phases=())
    assert step_times(alone, chosen(alone), lines=None, machine=None).shares.host == pytest.approx(0.9, abs=0.01)
