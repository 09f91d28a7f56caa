"""The agent in the user's process: imports one way, deferred ones too, the standard library only, Python 3.8."""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

AGENT = Path(__file__).parents[2] / "gpudoctor" / "profile" / "agent"
FILES = sorted(AGENT.rglob("*.py"))
FOREIGN = {"_frozen_importlib", "_frozen_importlib_external", "_imp"}  # CPython's own, under every version's name


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield level and name of what is imported anywhere in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.level, node.module
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.level, each.name) for each in node.names)


def test_no_module_of_the_agent_imports_one_that_imports_it() -> None:
    graph = {each.stem: [name for level, name in imports(each) if level] for each in AGENT.glob("*.py")}
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert order.index("core") < order.index("phases") < order.index("windows")
    assert order.index("phases") < order.index("keras_hooks")


def test_the_agent_needs_the_standard_library_only() -> None:
    top = {name.partition(".")[0] for each in FILES for level, name in imports(each) if not level}
    assert top - {*sys.stdlib_module_names} - FOREIGN == set()


@pytest.mark.parametrize("path", FILES, ids=lambda each: each.stem)
def test_the_agent_is_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
