"""What every built-in check owes, asked of all of them: a page, a code, a cause, and a Case that shows how it judges.

A check without a `tests/checks/test_<module>.py` that holds a CASE fails here, so that none can be added unproven.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

import gpudoctor_checks
from gpudoctor.knowledge import causes, claims
from gpudoctor.model.finding import Fix, Severity
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.sdk import Check, Limits
from gpudoctor.testing import judge
from tests.checks.case import Case
from tests.checks.machines import with_trial

FAMILY_DIGITS = {
    "driver": "1",
    "libraries": "2",
    "tensorflow": "3",
    "memory": "4",
    "input": "5",
    "compute": "6",
    "distribution": "7",
    "hardware": "8",
    "numerics": "9",
}
SECTIONS = ("What it does", "Why it matters", "How to fix")
MAX_TITLE = 45  # beside the status and the coverage on one line of 80 columns
MAX_FIX_TITLE = 46  # the fix's column of the text report
MAX_CODE_LINES = 120  # below the docstring; a check that needs more judges two things
INSTALLED = re.compile(r"\btensorflow(?:-cpu|-gpu)?(?:\[and-cuda\])?==(\d[\w.]*)")
T = TypeVar("T")


def _modules() -> dict[str, ModuleType]:
    names = [each.name for each in pkgutil.walk_packages(gpudoctor_checks.__path__, prefix="gpudoctor_checks.")]
    return {name: importlib.import_module(name) for name in names}


def _of(kind: type[T], module: ModuleType) -> list[T]:
    return [value for value in vars(module).values() if isinstance(value, kind)]


MODULES = _modules()
DEFINED: list[tuple[str, Check[Any]]] = [
    (name, check) for name, module in MODULES.items() for check in _of(Check, module) if check.judge.__module__ == name
]
CHECKS = {f"{check.code}-{check.slug}": (name, check) for name, check in DEFINED}
each_check = pytest.mark.parametrize(("module", "check"), CHECKS.values(), ids=CHECKS.keys())


def _case(module: str) -> Case:
    name = module.rpartition(".")[2]
    case = importlib.import_module(f"tests.checks.test_{name}").CASE
    assert isinstance(case, Case)
    return case


def _source(module: str) -> str:
    return Path(str(MODULES[module].__file__)).read_text(encoding="utf-8")


def _weighed(check: Check[Any], snapshot: Snapshot) -> list[tuple[str, str, float]]:
    verdict = judge(check, snapshot)
    return [(verdict.status.value, "", 0.0)] + [
        (each.cause, each.severity.value, each.confidence) for each in verdict.findings
    ]


def test_codes_and_slugs_are_unique_and_stand_one_a_file() -> None:
    for names in ([check.code for _, check in DEFINED], [check.slug for _, check in DEFINED], [n for n, _ in DEFINED]):
        assert sorted(names) == sorted(set(names))


@each_check
def test_the_code_shows_the_family(module: str, check: Check[Any]) -> None:
    family = module.split(".")[1]
    assert check.family == family
    assert re.fullmatch(rf"GD{FAMILY_DIGITS[family]}\d\d", check.code)


@each_check
def test_every_cause_is_a_known_one(module: str, check: Check[Any]) -> None:
    del module
    assert check.causes
    for cause in check.causes:
        assert causes.cause(cause) is not None, cause


@each_check
def test_the_title_fits_its_line(module: str, check: Check[Any]) -> None:
    del module
    assert 0 < len(check.title) <= MAX_TITLE


@each_check
def test_the_page_repeats_no_false_claim(module: str, check: Check[Any]) -> None:
    del module
    assert claims.asserted(check.page) == ()


@each_check
def test_the_docstring_is_a_page(module: str, check: Check[Any]) -> None:
    del module
    lines = check.page.splitlines()
    assert lines[0].startswith(check.code)
    places = [lines.index(section) for section in SECTIONS]
    assert places == sorted(places)
    assert all(lines[place + 1].startswith("    ") for place in places)


@each_check
def test_a_check_is_short_and_imports_only_the_sdk(module: str, check: Check[Any]) -> None:
    del check
    tree = ast.parse(_source(module))
    assert len(_source(module).splitlines()) - (tree.body[0].end_lineno or 0) <= MAX_CODE_LINES
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            top = name.partition(".")[0]
            assert name == "gpudoctor.sdk" or top == "gpudoctor_checks" or top in sys.stdlib_module_names, name


@each_check
def test_the_case_fires_with_evidence_and_fixes(module: str, check: Check[Any]) -> None:
    case = _case(module)
    assert case.check_code == check.code
    verdict = judge(check, case.fires)
    assert verdict.status is Outcome.FOUND, verdict.reason
    for finding in verdict.findings:
        assert finding.cause in check.causes
        assert finding.summary.endswith(".")
        assert 0 < finding.confidence <= 1
        assert finding.basis
        assert finding.evidence
        assert all(each.source for each in finding.evidence)
        assert finding.fixes or finding.severity is Severity.INFO
        assert len({fix.id for fix in finding.fixes}) == len(finding.fixes)


@each_check
def test_a_near_miss_stays_quiet(module: str, check: Check[Any]) -> None:
    verdict = judge(check, _case(module).near_miss)
    assert (verdict.status, verdict.findings) == (Outcome.PASSED, ()), verdict.reason


@each_check
def test_missing_evidence_is_not_a_pass(module: str, check: Check[Any]) -> None:
    verdict = judge(check, _case(module).lacking)
    assert verdict.status in {Outcome.SKIPPED, Outcome.INCONCLUSIVE}
    assert verdict.reason


@each_check
def test_the_trial_alone_changes_the_verdict(module: str, check: Check[Any]) -> None:
    case = _case(module)
    assert case.trial in check.trials
    before = _weighed(check, case.fires)
    for variant in case.trial_variants:
        changed = with_trial(case.fires, variant, name=case.trial)
        assert _weighed(check, changed) != before, variant


@each_check
def test_a_threshold_has_a_name_a_meaning_a_source_and_a_default_within_its_bounds(
    module: str, check: Check[Any]
) -> None:
    del module
    assert len({each.name for each in check.thresholds}) == len(check.thresholds)
    assert bool(check.thresholds) == any(need.fact is Limits for need in check.needs)
    for each in check.thresholds:
        assert re.fullmatch("[a-z][a-z0-9_]*", each.name)
        assert each.name != "severity"
        assert each.takes(each.default)
        assert each.meaning
        assert each.source


def all_fixes() -> dict[str, Fix]:
    fixes = {f"{name}.{fix.id}": fix for name, module in MODULES.items() for fix in _of(Fix, module)}
    for module, check in CHECKS.values():
        for finding in judge(check, _case(module).fires).findings:
            fixes.update({f"{check.code}.{fix.id}": fix for fix in finding.fixes})
    return fixes


def test_every_fix_fits_its_row_and_repeats_no_false_claim() -> None:
    for name, fix in all_fixes().items():
        assert len(fix.title) <= MAX_FIX_TITLE, name
        assert claims.asserted(f"{fix.title}. {fix.text}. {fix.gain.basis}") == (), name


def test_a_fix_that_installs_a_release_says_which_beside_its_text() -> None:
    telling = 0
    for name, fix in all_fixes().items():
        named = set(INSTALLED.findall(fix.text))
        assert named <= {fix.release}, name
        telling += len(named)
    assert telling > 5


def test_every_command_is_sound_shell_and_sound_python() -> None:
    bash = shutil.which("bash") or pytest.skip("needs bash to parse commands")
    for name, fix in all_fixes().items():
        assert fix.action in {"command", "diff", "setting", "manual"}, name
        if fix.action != "command":
            continue
        parsed = subprocess.run([bash, "-n", "-c", fix.text], capture_output=True, text=True, check=False)
        assert parsed.returncode == 0, f"{name}: {parsed.stderr}"
        for snippet in re.findall(r'python3? -c "([^"]*)"', fix.text):
            compile(snippet, name, "exec")
