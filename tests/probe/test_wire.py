"""Messages: what a child tells arrives whole or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.probe import wire


def line(**members: Any) -> bytes:
    return json.dumps(members).encode()


def trial(**members: Any) -> bytes:
    return line(kind="trial", name="baseline", duration_s=1.5, result={"status": "ok", **members})


def test_a_trial_arrives_with_its_figures() -> None:
    message = wire.decode(
        trial(
            device="CPU",
            arms=[{"name": "baseline", "steps": 3, "step_s": 0.002, "loss_last": 1}],
            comparisons=[{"arm": "b", "against": "a", "pairs": 5, "speedup": 1.5, "low": 1.2, "high": 1.9}],
            values={"first_step_s": 1},
            notes=["one"],
        )
    )
    assert isinstance(message, wire.Finished)
    told = message.trial
    assert (told.name, told.duration_s, told.device, told.notes) == ("baseline", 1.5, "CPU", ("one",))
    arm, comparison = told.arm("baseline"), told.comparison("b")
    assert arm is not None
    assert comparison is not None
    assert (arm.loss_last, comparison.low) == (1.0, 1.2)


def test_what_is_left_out_is_missing_and_not_zero() -> None:
    message = wire.decode(trial(arms=[{"name": "baseline"}]))
    assert isinstance(message, wire.Finished)
    assert isinstance(message.trial.device, Missing)
    assert isinstance(message.trial.arms[0].peak_bytes, Missing)


def test_libraries_arrive_with_and_without_a_version() -> None:
    message = wire.decode(
        line(kind="loaded", libraries=[{"path": "/a/libcudnn.so.9", "version": "9.10.2"}, {"path": "/b"}])
    )
    assert isinstance(message, wire.Loaded)
    assert [each.path for each in message.libraries] == ["/a/libcudnn.so.9", "/b"]
    assert isinstance(message.libraries[1].version, Missing)


@pytest.mark.parametrize(
    "hostile",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b'{"kind": "trial", "name": "base',
        b'{"kind": 7}',
        b'{"kind": "unheard of"}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        line(kind="trial", name="baseline"),
        line(kind="trial", name="baseline", result=[]),
        line(kind="trial", name=None, result={"status": "ok"}),
        line(kind="hello", pid="many"),
        line(kind="devices"),
        trial(status="splendid"),
        trial(values={"speed": "fast"}),
        trial(arms=[{"name": "a", "steps": 1.5}]),
        trial(comparisons=[{"arm": "b", "against": "a", "pairs": 5, "speedup": 1.5, "low": 1.9, "high": 1.2}]),
        trial(comparisons=[{"arm": "b", "against": "a", "pairs": 5, "speedup": 1.5, "low": -1.0, "high": 1.9}]),
        b'{"kind": "trial", "name": "baseline", "result": {"status": "ok", "values": {"x": NaN}}}',
        b'{"kind": "trial", "name": "baseline", "result": {"status": "ok", "values": {"x": 1e999}}}',
        trial(reason="x" * (wire.LONGEST_LINE + 1)),
    ],
)
def test_a_hostile_line_is_no_message(hostile: bytes) -> None:
    assert wire.decode(hostile) is None


def test_lines_may_come_in_pieces() -> None:
    taken: list[bytes] = []
    rest = b""
    for chunk in (b"one\ntw", b"o\n", b"three"):
        rest = wire.lines_of(chunk, rest, taken.append)
    assert (taken, rest) == ([b"one", b"two"], b"three")


def test_a_line_without_an_end_is_forgotten() -> None:
    assert wire.lines_of(b"x" * (wire.LONGEST_LINE + 1), b"", lambda _: None) == b""
