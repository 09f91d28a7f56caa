"""What is well must be called well, and what is not known must never be: groups of facts taken away, one at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Report, Status
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Level
from gpudoctor.testing import load_machine

MACHINES = sorted(each for each in (Path(__file__).parents[1] / "fixtures" / "machines").iterdir() if each.is_dir())
HEALTHY = [each for each in MACHINES if each.name.startswith("healthy-")]
GROUPS = (
    "host",
    "nvml",
    "cuda",
    "scheduler",
    "kernel",
    "gpus",
    "python",
    "packages",
    "tensorflow",
    "libraries",
    "env",
    "probe",
)
KINDS = 6  # H100, T4, desktop with Xorg, WSL2, NGC container, node of eight
each_healthy = pytest.mark.parametrize("folder", HEALTHY, ids=lambda each: each.name)
each_machine = pytest.mark.parametrize("folder", MACHINES, ids=lambda each: each.name)


def report_of(snapshot: Snapshot, *, level: Level) -> Report:
    return diagnose(snapshot, registry.load().checks, level=level)


def level_of(snapshot: Snapshot) -> Level:
    return "quick" if snapshot.probe is None else "standard"


def without(snapshot: Snapshot, *groups: str) -> Snapshot:
    nothing: dict[str, Any] = dict.fromkeys(groups)  # the names are data here
    return replace(snapshot, missing={**snapshot.missing, **dict.fromkeys(groups, "timeout")}, **nothing)


def losses_of(snapshot: Snapshot) -> tuple[tuple[str, ...], ...]:
    """Return what can be lost: each group that is there, and all at once that never were and of which only that is told."""
    there = [group for group in GROUPS if getattr(snapshot, group) is not None]
    return (*((group,) for group in there), tuple(group for group in GROUPS if group not in there))


def test_every_kind_of_healthy_machine_is_there() -> None:
    assert len(HEALTHY) >= KINDS


@each_healthy
def test_a_healthy_machine_has_nothing_above_a_note(folder: Path) -> None:
    report = report_of(load_machine(folder), level="standard")
    assert report.summary.status is Status.HEALTHY
    assert {finding.severity for finding in report.findings} <= {Severity.INFO}


@each_healthy
def test_a_healthy_machine_is_healthy_at_quick_level_too(folder: Path) -> None:
    report = report_of(without(load_machine(folder), "probe"), level="quick")
    assert report.summary.status is Status.HEALTHY


@each_healthy
def test_a_lost_group_of_facts_raises_no_alarm(folder: Path) -> None:
    snapshot = load_machine(folder)
    for lost in losses_of(snapshot):
        report = report_of(without(snapshot, *lost), level="standard")
        assert {finding.severity for finding in report.findings} <= {Severity.INFO}, lost


@each_machine
def test_a_lost_group_of_facts_makes_nothing_healthy(folder: Path) -> None:
    snapshot = load_machine(folder)
    level = level_of(snapshot)
    statuses = {lost: report_of(without(snapshot, *lost), level=level).summary.status for lost in losses_of(snapshot)}
    called_healthy = [lost for lost, status in statuses.items() if status is Status.HEALTHY]
    assert not called_healthy or report_of(snapshot, level=level).summary.status is Status.HEALTHY, called_healthy
