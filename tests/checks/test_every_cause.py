"""Every cause that the machine alone can show has a check that names it and a machine on which it is found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.knowledge import causes
from gpudoctor.model.words import Level
from gpudoctor.testing import load_machine

MACHINES = sorted(each for each in (Path(__file__).parents[2] / "fixtures" / "machines").iterdir() if each.is_dir())
FROM_THE_MACHINE = {"env", "nvml", "kernel"}
SHOWN = [each.id for each in causes.CAUSES if FROM_THE_MACHINE & set(each.settled_by)]


@cache
def found() -> dict[str, dict[str, bool]]:
    """Return cause -> machines on which it is found -> whether it, or what explains it, stands first there."""
    checks = registry.load().checks
    machines: dict[str, dict[str, bool]] = {}
    for folder in MACHINES:
        snapshot = load_machine(folder)
        level: Level = "quick" if snapshot.probe is None else "standard"
        findings = diagnose(snapshot, checks, level=level).findings
        for finding in findings:
            leads = findings[0].cause == finding.cause or causes.explains(findings[0].cause, finding.cause)
            machines.setdefault(finding.cause, {})[folder.name] = leads
    return machines


@pytest.mark.parametrize("cause", SHOWN)
def test_a_check_names_it(cause: str) -> None:
    assert any(cause in check.causes for check in registry.load().checks)


@pytest.mark.parametrize("cause", SHOWN)
def test_a_machine_shows_it_first(cause: str) -> None:
    machines = found().get(cause, {})
    assert machines, "no machine shows it"
    assert any(machines.values()), f"never the first finding, on {sorted(machines)}"
