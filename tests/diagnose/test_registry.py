"""Checks come from plug-ins; a broken one is a line in the report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gpudoctor.diagnose.registry import GROUP, load

THIRD_PARTY = '''"""AC101: the rack is too warm.

What it does
    Looks at the driver.
"""
from collections.abc import Iterator
from gpudoctor.sdk import Driver, Finding, Severity, check

@check(code="{code}", slug="rack-heat", title="The rack is too warm", family="acme", cause="acme-heat", trials=())
def rack_heat(driver: Driver) -> Iterator[Finding]:
    yield Finding(summary="warm", severity=Severity.WARNING, confidence=0.9, basis="thermometer")
'''


@pytest.fixture
def plugin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


def test_the_built_in_checks_come_through_the_public_group() -> None:
    known = load()
    builtin = next(each for each in known.plugins if each.name == "builtin")
    assert builtin.error == ""
    assert builtin.checks >= 20
    assert [each.code for each in known.checks] == sorted(each.code for each in known.checks)


def test_a_third_party_package_is_walked_below(plugin_folder: Path) -> None:
    package = plugin_folder / "acme_checks"
    (package / "heat").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "heat" / "__init__.py").touch()
    (package / "heat" / "rack.py").write_text(THIRD_PARTY.format(code="AC101"))
    known = load([point("acme", "acme_checks")])
    assert [each.code for each in known.checks] == ["AC101"]
    assert known.plugins[0].checks == 1
    assert known.checks[0].page.startswith("AC101: the rack is too warm.")


def test_a_broken_plugin_is_one_line_and_the_others_load(plugin_folder: Path) -> None:
    (plugin_folder / "stale_checks.py").write_text("from gpudoctor.sdk import does_not_exist\n")
    (plugin_folder / "good_checks.py").write_text(THIRD_PARTY.format(code="AC102"))
    known = load([point("stale", "stale_checks"), point("zgood", "good_checks"), point("gone", "not_installed")])
    errors = {each.name: each.error for each in known.plugins}
    assert "does_not_exist" in errors["stale"]
    assert "not_installed" in errors["gone"]
    assert errors["zgood"] == ""
    assert [each.code for each in known.checks] == ["AC102"]


def test_a_plugin_cannot_take_the_code_of_another(plugin_folder: Path) -> None:
    (plugin_folder / "first_checks.py").write_text(THIRD_PARTY.format(code="AC103"))
    (plugin_folder / "second_checks.py").write_text(THIRD_PARTY.format(code="AC103"))
    known = load([point("a", "first_checks"), point("b", "second_checks")])
    assert "AC103" in next(each.error for each in known.plugins if each.name == "b")
    assert len(known.checks) == 1


def test_a_broken_module_costs_a_package_its_own_checks_only(plugin_folder: Path) -> None:
    package = plugin_folder / "half_checks"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "bad.py").write_text("raise RuntimeError('stale')\n")
    (package / "good.py").write_text(THIRD_PARTY.format(code="AC104"))
    known = load([point("half", "half_checks")])
    assert [each.code for each in known.checks] == ["AC104"]
    assert known.plugins[0].error == "half_checks.bad: RuntimeError: stale"


def test_two_checks_of_one_plugin_cannot_share_a_code(plugin_folder: Path) -> None:
    package = plugin_folder / "twice_checks"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in ("one.py", "two.py"):
        (package / name).write_text(THIRD_PARTY.format(code="AC105"))
    known = load([point("twice", "twice_checks")])
    assert (known.plugins[0].checks, known.plugins[0].error) == (1, "AC105 is taken by twice_checks.one")
