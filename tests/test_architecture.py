"""The shape of the tree: which way imports run, how long files and functions may be, which names say nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudoctor.diagnose import registry

ROOT = Path(__file__).parents[1]
PRODUCT = sorted([*ROOT.glob("gpudoctor/**/*.py"), *ROOT.glob("checks/**/*.py")])
EVERYTHING = sorted([*PRODUCT, *ROOT.glob("tests/**/*.py")])
LONGEST_FILE, LONGEST_FUNCTION = 400, 40
SAYS_NOTHING = re.compile(r"utils?|helpers?|common|misc|stuff|tools", re.IGNORECASE)
TABLES = re.compile(r"_data\.py$")  # pure data: rows of facts, no code
BROAD = ("Exception", "BaseException")
# Where anything may be raised by others and must not end the run: a plug-in, a check, a source, one NVML call, a child.
BOUNDARIES = {
    "gpudoctor/cli/main.py",
    "gpudoctor/cli/recording.py",
    "gpudoctor/forking.py",
    "gpudoctor/collect/framing.py",
    "gpudoctor/diagnose/engine.py",
    "gpudoctor/diagnose/registry.py",
    "gpudoctor/collect/isolate.py",
    "gpudoctor/collect/nvml_device.py",
    "gpudoctor/collect/isolate_fork.py",
    "gpudoctor/collect/isolate_threads.py",
    "gpudoctor/probe/child.py",
    "gpudoctor/profile/machine.py",
    "gpudoctor/profile/careful_tap.py",
}
IN_THE_USERS_PROCESS = "gpudoctor/profile/agent/"  # nothing that fails there may reach the user's training
JSON_HANDLERS = re.compile(r"gpudoctor/(?:codec|probe/\w+|collect/for_target/\w+|profile/agent/\w+)\.py")
LAYERS = ("cli", "present", "diagnose", "collect", "codec", "sdk", "knowledge", "model")


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (each for each in ast.walk(tree_of(path)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of the body: parameters stand one a line and a docstring explains, neither has to be followed."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_imports_run_one_way() -> None:
    pytest.importorskip("importlinter", reason="import-linter comes with the dev extra")
    command = [
        sys.executable,
        "-c",
        "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())",
    ]
    done = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: \d+ kept, 0 broken", done.stdout), done.stdout


def test_the_contracts_name_the_layers_of_the_design() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contract = text[text.index('type = "layers"') : text.index("containers = []")]
    assert [name for name in re.findall(r'"gpudoctor\.(\w+)', contract) if name in LAYERS] == list(LAYERS)


def test_no_file_is_long_unless_it_is_a_table() -> None:
    lines = {inside(path): len(path.read_text(encoding="utf-8").splitlines()) for path in EVERYTHING}
    assert {name: count for name, count in lines.items() if count > LONGEST_FILE and not TABLES.search(name)} == {}


def test_a_table_holds_no_code() -> None:
    assert [inside(path) for path in EVERYTHING if TABLES.search(inside(path)) and list(functions(path))] == []


def test_no_function_of_the_product_is_long() -> None:
    lines = {f"{inside(path)}:{each.lineno} {each.name}": length(each) for path in PRODUCT for each in functions(path)}
    assert {name: count for name, count in lines.items() if count > LONGEST_FUNCTION} == {}


def test_the_core_knows_no_check_by_its_name() -> None:
    """What is particular about a check is told by the check; a cause or a trial may be called as a check is."""
    known = registry.load().checks
    slugs = {each.slug for each in known} | {each.code for each in known}
    slugs -= {cause for each in known for cause in each.causes}
    core = [path for path in PRODUCT if inside(path).startswith(("gpudoctor/diagnose/", "gpudoctor/present/"))]
    named = [
        f"{inside(path)}:{node.lineno} {node.value}"
        for path in core
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in slugs
    ]
    assert named == []


def test_every_file_says_in_its_docstring_what_its_job_is() -> None:
    assert [inside(path) for path in EVERYTHING if path.stat().st_size and not ast.get_docstring(tree_of(path))] == []


def test_no_name_says_nothing() -> None:
    parts = {part for path in EVERYTHING for part in path.relative_to(ROOT).with_suffix("").parts}
    assert [part for part in parts if SAYS_NOTHING.fullmatch(part)] == []


def test_everything_is_caught_only_where_the_code_of_others_runs() -> None:
    caught = [
        f"{inside(path)}:{node.lineno}"
        for path in PRODUCT
        if inside(path) not in BOUNDARIES and not inside(path).startswith(IN_THE_USERS_PROCESS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler)
        and is_broad(node)
        and not any(isinstance(each, ast.Raise) for each in node.body)
    ]
    assert caught == []


def is_broad(handler: ast.ExceptHandler) -> bool:
    named = [] if handler.type is None else [each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)]
    return handler.type is None or bool({*BROAD} & {*named})


def test_a_check_imports_the_sdk_and_nothing_else_of_gpudoctor() -> None:
    own = {*sys.stdlib_module_names, "gpudoctor_checks"}
    foreign = {
        name
        for path in PRODUCT
        if "gpudoctor_checks" in path.parts
        for name in imported(path)
        if name.partition(".")[0] not in own
    }
    assert foreign == {"gpudoctor.sdk"}


def test_the_model_needs_the_standard_library_only() -> None:
    foreign = {
        name
        for path in (ROOT / "gpudoctor/model").glob("*.py")
        for name in imported(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert all(name.startswith("gpudoctor.model") for name in foreign), foreign


def test_json_meets_the_model_in_one_place() -> None:
    users = [
        inside(path) for path in PRODUCT if {"json", "msgspec"} & {name.partition(".")[0] for name in imported(path)}
    ]
    assert [user for user in users if not JSON_HANDLERS.fullmatch(user)] == []


def test_the_top_of_the_tree_is_as_it_was_asked_for() -> None:
    listed = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = {name for name in listed.stdout.split() if not name.startswith(".")}
    if not names:
        pytest.skip("not a git checkout")
    assert names == {"gpudoctor", "checks", "fixtures", "tests", "pyproject.toml", "README.md", "LICENSE"}
