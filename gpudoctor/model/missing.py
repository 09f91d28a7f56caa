"""Absent data with its reason: the reason is evidence, so there is no sentinel that behaves like a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, Union

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Missing:
    """A value that is not known, and why (`not_supported`, `no_permission`, `timeout`, a sentence ...)."""

    reason: str

    def __bool__(self) -> bool:
        """Refuse truth tests: a missing value is neither true nor false."""
        message = f"a missing value has no truth ({self.reason}); compare with isinstance(value, Missing)"
        raise TypeError(message)


Maybe = Union[T, Missing]  # a generic alias: `T | Missing` cannot be subscripted on 3.10

NOT_COLLECTED = Missing("not collected")
# Why a part of a machine is unknown where only a text was read: it may say so in words that are not known
NOT_IN_TEXT = "not recognised in the text"


def either(value: T | Missing, fallback: T) -> T:
    """Return the value, or the fallback where it is missing."""
    return fallback if isinstance(value, Missing) else value
