"""The code behind the generator that Keras makes of what `fit` is given: a PyDataset (Sequence), a generator, an iterator.

Keras wraps each of them, and the function that reaches tf.data is its own. What it wraps is looked for in closures and in
Keras's adapters, nowhere else; a Sequence may be the library's own (ImageDataGenerator.flow). Nothing of the user's is
called, attributes computed by it included.
"""

from __future__ import annotations

import gc
import itertools
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from . import places

MOST_LOOKED_AT = 60
SEQUENCES = ("PyDataset", "Sequence")  # Keras 3's name, Keras 2's
KERAS = ("keras", "tf_keras")
PASSED_ON = (tuple, type(iter(())), itertools.chain)  # how Keras puts back the batches that it looked at
WORKERS = ("workers", "use_multiprocessing")  # of the object in Keras 3, of `fit` in Keras 2
TOLD = (*WORKERS, "sequence")


def behind(function: Any) -> dict[str, Any]:
    """Return `callee`, `callee_file` and `callee_line` of the user's code; of a Sequence what TOLD names, too; {} without any."""
    waiting: list[Any] = [function]
    told: dict[str, Any] = {}
    for _ in range(MOST_LOOKED_AT):
        if not waiting:
            break
        value = waiting.pop(0)
        told.update(_workers(value))
        code, name = _code(value)
        sequence = _sequence(type(value))
        if code is not None and (sequence or places.kind_of(code.co_filename) == places.USER):
            place = {
                "callee": name,
                "callee_file": places.absolute(code.co_filename),
                "callee_line": code.co_firstlineno,
            }
            return {**place, **told, "sequence": sequence} if sequence else place
        waiting.extend(_inside(value))
    return {}


def _code(value: Any) -> tuple[Any, str]:
    """Return the code that makes the batches, and its name; None where this is nothing of the kind."""
    if isinstance(value, GeneratorType):
        return value.gi_code, value.__qualname__
    method = "__getitem__" if _sequence(type(value)) else "__next__"
    for each in type(value).__mro__:
        function = each.__dict__.get(method)
        if isinstance(function, FunctionType):
            return function.__code__, function.__qualname__
    return None, ""


def _sequence(kind: Any) -> str:
    """Return Keras's name for such a class, "" for any other."""
    return next((each.__name__ for each in kind.__mro__ if each.__name__ in SEQUENCES and _of_keras(each)), "")


def _of_keras(kind: Any) -> bool:
    return str(kind.__module__).partition(".")[0] in KERAS


def _workers(value: Any) -> dict[str, Any]:
    """Return what is asked for beside the training: of a Sequence that knows it, or in a closure of Keras's."""
    if _sequence(type(value)):
        own = getattr(value, "__dict__", {})
        told = {name: own.get("_" + name) for name in WORKERS}
    else:
        told = {name: each for name, each in _cells(value) if name in WORKERS}
    return {name: each for name, each in told.items() if isinstance(each, int)}


def _inside(value: Any) -> list[Any]:
    """Return what a closure, a bound method, an adapter of Keras's or a chain holds."""
    if isinstance(value, PASSED_ON):
        return gc.get_referents(value)
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, FunctionType):
        return [each for _, each in _cells(value)]
    return list(value.__dict__.values()) if _is_adapter(type(value)) else []


def _is_adapter(kind: Any) -> bool:
    return _of_keras(kind) and str(kind.__name__).endswith("Adapter")


def _cells(function: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    if isinstance(function, FunctionType):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                found.append((name, cell.cell_contents))
            except ValueError:  # not filled yet
                pass
    return found
