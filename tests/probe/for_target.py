"""Brings the child's files to a script that runs under a target interpreter, as a package made by hand like the child's."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

NAME = "child_under_test"


def modules(folder: str, *names: str) -> list[Any]:
    """Return the child's modules of these names from that folder."""
    package = types.ModuleType(NAME)
    package.__path__ = [folder]
    sys.modules[NAME] = package
    return [importlib.import_module(f"{NAME}.{name}") for name in names]


def bench(folder: str, **options: Any) -> Any:
    """Return a bench with the interpreter's own TensorFlow and two minutes of time."""
    (child_bench,) = modules(folder, "child_bench")
    made = child_bench.Bench(importlib.import_module("tensorflow"), importlib.import_module("numpy"), **options)
    made.limit(120)
    return made
