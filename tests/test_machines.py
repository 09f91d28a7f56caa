"""Every recorded or synthetic machine of `fixtures/machines` replayed: the same facts must always give the same answer.

`expected.toml`: `status`, `found` (all codes found), and where something is wrong `primary` and `first_fix`. A machine with
several faults (`chain-...`) also says what is `folded` under what, and what stands `below` the first for which reason.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.codec import dumps, load_snapshot, snapshot_to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Report
from gpudoctor.model.words import Level
from gpudoctor.testing import load_machine

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="Python 3.10 has no TOML reader of its own")

# those of a public thread tell a cause instead: see tests/test_corpus.py
MACHINES = sorted(
    each
    for each in (Path(__file__).parents[1] / "fixtures" / "machines").iterdir()
    if each.is_dir() and not each.name.startswith("forum-")
)
CHAINS = [each for each in MACHINES if each.name.startswith("chain-")]
SEVERAL_FAULTS = 12
each_machine = pytest.mark.parametrize("folder", MACHINES, ids=lambda each: each.name)


def report_of(folder: Path) -> Report:
    snapshot = load_machine(folder)
    level: Level = "standard" if snapshot.probe is not None else "quick"
    return diagnose(snapshot, registry.load().checks, level=level)


def expected_of(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))
    return told


@each_machine
def test_a_machine_is_judged_as_its_folder_says(folder: Path) -> None:
    report, expected = report_of(folder), expected_of(folder)
    assert set(expected) <= {"status", "primary", "found", "first_fix", "folded", "below"}
    assert report.summary.status.value == expected["status"]
    assert sorted({finding.code for finding in report.findings}) == sorted(expected["found"])
    if "primary" in expected:
        assert next(each.code for each in report.findings if each.caused_by is None) == expected["primary"]
    if "first_fix" in expected:
        assert report.fixes[0].id == expected["first_fix"]


def test_there_are_enough_machines_with_several_faults() -> None:
    assert len(CHAINS) >= SEVERAL_FAULTS


@pytest.mark.parametrize("folder", CHAINS, ids=lambda each: each.name)
def test_of_several_faults_the_first_to_mend_is_first_and_the_rest_is_folded_or_explained(folder: Path) -> None:
    findings, expected = report_of(folder).findings, expected_of(folder)
    assert {each.code: each.caused_by for each in findings if each.caused_by} == expected.get("folded", {})
    grave = [each for each in findings if each.severity is not Severity.INFO]
    standing = {each.code for each in grave if each.caused_by is None} - {expected["primary"]}
    assert standing == set(expected.get("below", {}))
    assert all(reason for reason in expected.get("below", {}).values())
    assert expected["primary"] in (report_of(folder).fixes[0].addresses)


@each_machine
def test_a_machine_survives_the_way_through_json(folder: Path) -> None:
    snapshot = load_machine(folder)
    assert load_snapshot(dumps(snapshot_to_builtins(snapshot)).encode()) == snapshot


@each_machine
def test_a_machine_tells_its_origin_and_names_nobody(folder: Path) -> None:
    assert (folder / "origin.md").read_text(encoding="utf-8").strip()
    text = (folder / "snapshot.json").read_text(encoding="utf-8")
    assert re.search(r"(GPU|MIG)-[0-9a-f]{8}-", text) is None
    assert "/home/" not in text
