"""What the probe's children print is judged like any text, where no other check could judge the cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.machine import Nvml
from gpudoctor.model.observed import Log, LogEvent, Probe, ProbeChild
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.sdk import Check, Finding, Severity, Skip, check

SAID = LogEvent(kind="graph_constant", text="larger than 2GB", line=7)
PROBED = Snapshot(nvml=Nvml(status="ok"), probe=Probe(children=(ProbeChild(environment="default", events=(SAID,)),)))


def declared(judge_: Any, code: str, cause: str = "graph-constant") -> Check[Any]:
    return check(code=code, slug=f"test-{code.lower()}", title="A test", family="test", cause=cause, trials=())(judge_)


def reads(severity: Severity = Severity.ERROR) -> Check[Any]:
    def judge(log: Log) -> Iterator[Finding]:
        if any(each.kind == "graph_constant" for each in log.events):
            yield Finding(summary="it says so", severity=severity, confidence=0.9, basis="the log")

    return declared(judge, "AC101")


def knows(*, judged: bool) -> Check[Any]:
    def judge(nvml: Nvml) -> Iterator[Finding]:
        if not judged:
            why = "not to be known"
            raise Skip(why)
        yield from ()

    return declared(judge, "AC102")


def test_a_trouble_that_only_the_text_tells_is_found_and_says_where_from() -> None:
    (found,) = diagnose(PROBED, [reads(), knows(judged=False)]).findings
    assert (found.code, found.basis) == ("AC101", "the probe's stderr")


@pytest.mark.parametrize(
    ("snapshot", "checks"),
    [
        (PROBED, [reads(), knows(judged=True)]),
        (PROBED, [reads(Severity.INFO)]),
        (Snapshot(nvml=Nvml(status="ok"), probe=Probe()), [reads()]),
    ],
    ids=["a check of facts has judged the cause", "a note", "nothing was said"],
)
def test_it_is_silent_otherwise(snapshot: Snapshot, checks: list[Check[Any]]) -> None:
    report = diagnose(snapshot, checks)
    assert report.findings == ()
    assert "AC101" not in {each.code for each in report.checks}
