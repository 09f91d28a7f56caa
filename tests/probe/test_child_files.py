"""What runs under a target interpreter: Python 3.8's grammar, the standard library, its own files, nothing else."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).parents[2] / "gpudoctor" / "probe"
FILES = sorted([*PROBE.glob("child*.py"), *PROBE.glob("fragmentation_*.py")])
# Names in sys.stdlib_module_names that Python 3.8 does not have.
NEWER = {"graphlib", "tomllib", "zoneinfo"}
ALLOWED = sys.stdlib_module_names - NEWER | {"tensorflow", "numpy"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_child_is_python_3_8_and_imports_only_what_every_target_has(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            roots = {str(node.module).partition(".")[0]}
        else:
            continue
        assert roots <= ALLOWED, (path.name, roots)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_annotations_are_not_evaluated_there(path: Path) -> None:
    """`X | None` and `list[int]` would be errors on 3.8."""
    assert "from __future__ import annotations" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_generic_of_a_builtin_is_called(path: Path) -> None:
    """`list[str]()` is evaluated, unlike an annotation, and an error on 3.8."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    subscripts = [each.value for each in called if isinstance(each, ast.Subscript)]
    assert not {each.id for each in subscripts if isinstance(each, ast.Name)} & {"list", "dict", "set", "tuple"}


def test_files_were_found() -> None:
    assert len(FILES) >= 8
