"""The base of every row of facts: two rows are equal when they are the same row, and a row is shown by its first field.

Rows switch off the `__eq__` and `__repr__` that dataclasses would generate: compiling those is most of what defining a
class costs (measured: 0.9 ms with, 0.3 ms without), and every start of the product would pay for a dozen of them.
"""

from __future__ import annotations


class Row:
    """Rows are written once and never built by callers, so identity is equality."""

    __slots__ = ()

    def __repr__(self) -> str:
        first: str = vars(type(self))["__slots__"][0]
        return f"{type(self).__name__}({getattr(self, first)!r})"
