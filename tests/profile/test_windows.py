"""Profiler windows: input share of marked steps, device work outranks waiting, closed counters are no idle GPU."""

from __future__ import annotations

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.spans import common, merged
from gpudoctor.profile.windows import window_share

FETCH, TRAIN, KERNEL = "IteratorGetNextOp::DoCompute", "train", "volta_sgemm_128x64"
Events = tuple[tuple[str, float, float], ...]  # name, start and duration in ms
STEPS: Events = tuple((TRAIN, 10.0 * at, 10.0) for at in range(4))


def number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))


def field(place: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return number(place << 3) + number(value)
    return number(place << 3 | 2) + number(len(value)) + value


def plane(name: str, events: Events) -> bytes:
    """Return an XPlane of one line, as TensorFlow writes it: statistics behind the numbers of an event."""
    kinds = {kind: at for at, kind in enumerate(dict.fromkeys(kind for kind, _, _ in events), start=1)}
    table = b"".join(
        field(4, field(1, at) + field(2, field(1, at) + field(2, kind.encode()))) for kind, at in kinds.items()
    )
    rows = b"".join(
        field(
            4, field(1, kinds[kind]) + field(2, int(start * 1e9)) + field(3, int(length * 1e9)) + field(4, field(1, 7))
        )
        for kind, start, length in events
    )
    return field(1, field(1, 3) + field(2, name.encode()) + table + field(3, field(1, 1) + field(3, 5_000_000) + rows))


def seen(*planes: bytes) -> WindowShare:
    share = window_share(b"".join(planes))
    assert share is not None
    return share


def near(value: float | Missing, wanted: float) -> bool:
    return not isinstance(value, Missing) and abs(value - wanted) < 1e-6


def test_the_share_is_fetching_over_marked_steps() -> None:
    share = seen(plane("/host:CPU", (*STEPS, (FETCH, 0.0, 4.0), (FETCH, 10.0, 6.0))))
    assert (share.steps, share.device_plane) == (4, False)
    assert near(share.step_s, 0.010)
    assert near(share.input_share, 0.25)


def test_fetching_outside_of_steps_does_not_count() -> None:
    assert near(seen(plane("/host:CPU", (*STEPS, (FETCH, 100.0, 50.0)))).input_share, 0.0)


def test_a_loop_that_fetches_between_its_calls_waits_there() -> None:
    """Steps of 10 ms, of which the call takes 4: what the loop fetches by itself lies outside of all marked calls."""
    calls: Events = tuple((TRAIN, 10.0 * at, 4.0) for at in range(6))
    fetches: Events = tuple((FETCH, 10.0 * at + 5, 5.0) for at in range(6))
    share = seen(plane("/host:CPU", (*calls, *fetches)))
    assert share.steps == 5
    assert near(share.input_share, 0.5)


def test_device_work_outranks_waiting() -> None:
    host = plane("/host:CPU", (*STEPS, (FETCH, 0.0, 10.0), (FETCH, 10.0, 10.0)))
    share = seen(host, plane("/device:GPU:0", ((KERNEL, 5.0, 15.0),)))
    assert near(share.input_share, 5 / 40)
    assert near(share.device_share, 15 / 40)


def test_an_empty_device_plane_is_closed_counters_not_an_idle_gpu() -> None:
    share = seen(plane("/host:CPU", STEPS), plane("/device:GPU:0", ()))
    assert not share.device_plane
    assert isinstance(share.device_share, Missing)


def test_a_marked_call_that_fetches_nothing_lasts_until_the_next_one() -> None:
    """What is neither in the calls nor in an operation that Python calls beside them is the user's own."""
    calls: Events = tuple(("gpudoctor_step", 10.0 * at, 2.0) for at in range(5))
    beside: Events = (("gpudoctor_part", 3.0, 1.0), ("EagerExecute", 15.0, 4.0), ("EagerExecute", 15.0, 1.0))
    share = seen(plane("/host:CPU", (*calls, *beside)))
    assert (share.steps, near(share.step_s, 0.010)) == (4, True)
    assert near(share.outside_share, 1 - (4 * 2 + 1 + 4) / 40)
    assert isinstance(share.input_share, Missing)


def test_fetches_that_run_beside_each_other_count_once() -> None:
    assert near(seen(plane("/host:CPU", (*STEPS, (FETCH, 0.0, 8.0), (FETCH, 4.0, 4.0)))).input_share, 0.2)


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"not a profile at all", plane("/host:CPU", ((FETCH, 0.0, 1.0),)), field(1, b"xxxx")[:-2]]
)
def test_what_holds_no_marked_step_is_no_window(data: bytes) -> None:
    assert window_share(data) is None


def test_spans_are_merged_and_intersected() -> None:
    assert merged([(3, 4), (0, 2), (1, 3)]) == [(0, 4)]
    assert common([(0, 2), (5, 9)], [(1, 6), (8, 10)]) == [(1, 2), (5, 6), (8, 9)]
