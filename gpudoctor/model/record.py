"""`dataclass` for the model: frozen, slotted, keyword-only, made with one compiled function a class instead of six.

Python compiles `__init__`, `__repr__`, `__eq__`, `__hash__`, `__setattr__` and `__delattr__` anew for every frozen dataclass:
0.5 ms each, 50 ms of a quick scan (measured). Only `__init__` differs from class to class; the others stand here once. Type
checkers see the standard library's decorator, and to `fields`, `replace` and msgspec the classes are dataclasses.
"""
# ruff: noqa: N807, ARG001  # the methods of all records stand here, outside of any class

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool) -> Any:
        """Return the decorator; the three arguments are there to be read, and must be true."""
        if not (frozen and slots and kw_only):
            message = "a record is frozen, slotted and keyword-only; take dataclasses.dataclass for anything else"
            raise TypeError(message)
        return _record


__all__ = ["dataclass"]

FROM_FACTORY = object()


def _record(cls: type) -> Any:
    plain: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)
    made: Any = plain(cls)
    for method in SHARED:
        if method.__name__ not in cls.__dict__:
            setattr(made, method.__name__, method)
    made.__init__ = _initialiser(made)
    return made


def _initialiser(cls: type) -> Any:  # a function of this class's fields
    """Return `__init__`: each argument goes straight into its slot, past the refusing `__setattr__`."""
    scope: dict[str, Any] = {"FROM_FACTORY": FROM_FACTORY}
    parameters, lines = list[str](), list[str]()
    for field in dataclasses.fields(cls):
        name = field.name
        scope[f"put_{name}"] = getattr(cls, name).__set__
        value = name
        if field.default is not dataclasses.MISSING:
            scope[f"default_{name}"] = field.default
            parameters.append(f"{name}=default_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"make_{name}"] = field.default_factory
            parameters.append(f"{name}=FROM_FACTORY")
            value = f"make_{name}() if {name} is FROM_FACTORY else {name}"
        else:
            parameters.append(name)
        lines.append(f"    put_{name}(self, {value})")
    head = f"def __init__(self, *, {', '.join(parameters)}):" if parameters else "def __init__(self):"
    exec("\n".join([head, *(lines or ["    pass"])]), scope)  # noqa: S102  # as the standard library does
    return scope["__init__"]


def _values(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record.__dataclass_fields__)


def __eq__(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def __hash__(self: Any) -> int:
    return hash(_values(self))


def __repr__(self: Any) -> str:
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({inside})"


def __setattr__(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def __getstate__(self: Any) -> tuple[Any, ...]:
    return _values(self)


def __setstate__(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


SHARED = (__eq__, __hash__, __repr__, __setattr__, __delattr__, __getstate__, __setstate__)
