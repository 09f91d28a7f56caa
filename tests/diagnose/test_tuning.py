"""Configured thresholds: they reach the check that declares them and no other, and a mistake is told with what is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import Registry
from gpudoctor.diagnose.tuning import tuned
from gpudoctor.errors import UsageError
from gpudoctor.model.machine import Cpu, Host
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.sdk import Check, Evidence, Finding, Limits, Severity, Threshold, check, must_know

FEWEST = Threshold(name="fewest_cores", default=4, unit="cores", meaning="fewer are few", source="policy", least=1)
SHARE = Threshold(name="some_share", default=0.5, unit="", meaning="more is much", source="policy", most=1.0)
TWO_CORES = Snapshot(host=Host(cpu=Cpu(cores=2)))


def declared(code: str) -> Check[...]:
    @check(code=code, slug=code.lower(), title="t", family="compute", cause="cpu-quota", thresholds=(FEWEST, SHARE))
    def few(host: Host, limits: Limits) -> Iterator[Finding]:
        cores = must_know(host.cpu.cores, "cores")
        if cores < limits.of(FEWEST):
            evidence = (Evidence(label="cores", value=cores, source="test"),)
            yield Finding(summary="Few.", severity=Severity.WARNING, confidence=0.9, basis="counted", evidence=evidence)

    return few


KNOWN = Registry(checks=(declared("AC101"), declared("AC102")), plugins=())


def found(moved: dict[str, dict[str, Any]]) -> list[str]:
    return [each.code for each in diagnose(TWO_CORES, tuned(KNOWN, moved).checks).findings]


def test_without_configuration_the_defaults_decide() -> None:
    assert found({}) == ["AC101", "AC102"]


def test_a_moved_threshold_changes_the_verdict_of_its_check_alone_and_stands_in_it() -> None:
    assert found({"AC101": {"fewest_cores": 2}}) == ["AC102"]
    report = diagnose(TWO_CORES, tuned(KNOWN, {"AC101": {"fewest_cores": 2}}).checks)
    assert {each.code: dict(each.moved) for each in report.checks} == {"AC101": {"fewest_cores": 2}, "AC102": {}}


@pytest.mark.parametrize(
    ("moved", "says"),
    [
        ({"AC1O1": {"fewest_cores": 2}}, "no check has this code .did you mean 'AC101'"),
        ({"AC101": {"fewest_core": 2}}, "unknown key 'fewest_core'; did you mean 'fewest_cores'"),
        ({"AC101": {"serverity": 2}}, "did you mean 'severity'"),
        ({"AC101": {"zzz": 2}}, "known are severity, fewest_cores, some_share"),
        ({"AC101": {"fewest_cores": 2.5}}, "a whole number .cores. 1 or more, not 2.5"),
        ({"AC101": {"fewest_cores": 0}}, "1 or more, not 0"),
        ({"AC101": {"fewest_cores": True}}, "a whole number"),
        ({"AC101": {"some_share": 1.5}}, "a number from 0 to 1, not 1.5"),
        ({"AC101": {"some_share": float("nan")}}, "from 0 to 1, not nan"),
        ({"AC101": {"fewest_cores": float("inf")}}, "a whole number"),
        ({"AC101": {"some_share": -0.1}}, "not -0.1"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(moved: dict[str, dict[str, Any]], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        tuned(KNOWN, moved)
