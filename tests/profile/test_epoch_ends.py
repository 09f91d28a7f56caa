"""How long the ends of epochs take: what comes again is the callbacks', what comes once is a stall."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.sampled import Burst, StackLine
from gpudoctor.profile.calls import calls
from gpudoctor.profile.timeline import analyse
from tests.profile.timelines import PROCESS, START, loop, phase, readings, session


def ends(*lengths_s: float) -> float:
    """Return what the ends of epochs of ten seconds, each with its length, come to; the first epoch warms up."""
    phases = [phase(0, "epoch", 0.0, 10.0)]
    for number, length_s in enumerate(lengths_s, start=1):
        whole = phase(2 * number, "epoch", 10.0 * number, 10.0 * number + 10)
        phases += [whole, phase(2 * number + 1, "epoch_end", 10.0 * number + 10 - length_s, 10.0 * number + 10)]
    return calls(replace(session(loop()), phases=tuple(phases)), PROCESS).epoch_end_s


@pytest.mark.parametrize(
    ("lengths_s", "together_s"),
    [
        ((0.5, 0.5, 0.5, 0.5), 2.0),
        ((0.001, 0.001, 2.0, 0.001, 0.001), 0.004),  # a stall
        ((0.001, 2.0, 0.001, 0.001, 2.0), 4.003),  # a callback of every third epoch
        ((0.001, 2.0), 2.001),  # too few to tell
    ],
)
def test_a_stall_is_left_out_and_what_comes_again_is_not(lengths_s: tuple[float, ...], together_s: float) -> None:
    assert ends(*lengths_s) == pytest.approx(together_s)


def sampled(function: str, *, end_s: float = 0.0, validation_s: float = 0.0) -> float:
    """Return the host's share of steps of fit of which a fifth of all samples, over the epochs, see Python of the user's."""
    phases = [phase(0, "fit", 0.0, 60.0), phase(1, "epoch", 0.0, 10.0)]
    for number in range(1, 6):
        start, last = 10.0 * number, 10.0 * number + 10
        taken = end_s if number == 3 else 0.0001
        phases += [phase(4 * number, "epoch", start, last), phase(4 * number + 1, "epoch_end", last - taken, last)]
        if validation_s:
            phases.append(phase(4 * number + 2, "validation", last - taken - validation_s, last - taken))
    line = StackLine(
        process=PROCESS,
        role="main",
        file="train.py",
        line=20,
        function=function,
        activity="numpy",
        leaf="numpy.sort",
        weight_s=1.0,
        samples=100,
    )
    steps = readings(*((10.0 * each + 1, 100 * each, 0.0) for each in range(1, 6)), (60.0, 600, 0.0))
    whole = replace(
        session(loop(), steps=steps),
        phases=tuple(phases),
        bursts=(Burst(process=PROCESS, at=START + 12, duration_s=5.0, samples=500),),
        stack_lines=(line,),
    )
    times = analyse(whole, (), lambda _file, _line: "").steps
    assert times is not None
    assert not isinstance(times.shares.host, Missing)
    return times.shares.host


def test_what_one_end_of_an_epoch_called_is_no_work_of_the_steps() -> None:
    assert sampled("export") == pytest.approx(0.2, abs=0.01)
    assert sampled("export", end_s=8.0) == pytest.approx((0.2 - 0.16) / 0.84, abs=0.01)


def test_validation_is_not_sampled_so_that_its_time_neither_thins_out_nor_swells_the_work_of_the_steps() -> None:
    assert sampled("train", validation_s=5.0) == pytest.approx(0.2, abs=0.01)
    assert sampled("export", end_s=4.0, validation_s=5.0) == pytest.approx((0.2 - 4 / 25) / (1 - 4 / 25), abs=0.01)
