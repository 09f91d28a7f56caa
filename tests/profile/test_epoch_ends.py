"""How long the ends of epochs take: what comes again is the callbacks', what comes once is a stall."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.profile.calls import calls
from tests.profile.timelines import PROCESS, loop, phase, session


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
