"""Records behave as frozen, slotted, keyword-only dataclasses do, to people, to `dataclasses` and to pickle."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field

import pytest

from gpudoctor.model.record import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """No fields."""


def test_defaults_and_factories_are_used_anew_each_time() -> None:
    first, second = Point(x=1), Point(x=1)
    assert (first.y, first.names) == (2, [])
    assert first.names is not second.names
    assert Empty() == Empty()


def test_a_missing_or_unknown_or_positional_argument_is_refused() -> None:
    for arguments in ({}, {"x": 1, "z": 3}):
        with pytest.raises(TypeError):
            Point(**arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[call-arg]


def test_nothing_can_be_assigned_deleted_or_added() -> None:
    point = Point(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.z = 2  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_equality_and_hash_go_by_class_and_values() -> None:
    assert Point(x=1) == Point(x=1)
    assert Point(x=1) != Point(x=2)
    other: object = Empty()
    assert other != Point(x=1)
    assert hash(Empty()) == hash(Empty())


def test_the_dataclasses_module_takes_it_for_a_dataclass() -> None:
    assert dataclasses.is_dataclass(Point)
    assert [each.name for each in dataclasses.fields(Point)] == ["x", "y", "names"]
    assert dataclasses.replace(Point(x=1), y=5) == Point(x=1, y=5)
    assert dataclasses.asdict(Point(x=1)) == {"x": 1, "y": 2, "names": []}


def test_it_is_copied_and_pickled() -> None:
    point = Point(x=1, names=["a"])
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point  # noqa: S301  # our own bytes


def test_it_is_shown_as_it_is_written() -> None:
    assert repr(Point(x=1)) == "Point(x=1, y=2, names=[])"


def test_only_the_one_kind_is_made() -> None:
    with pytest.raises(TypeError, match="frozen, slotted and keyword-only"):

        @dataclass(frozen=False, slots=True, kw_only=True)
        class Wrong:
            x: int
