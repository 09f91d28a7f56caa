"""Checks of a text speak where there is a text, and facts laid over a snapshot change only what they tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.from_text import judge_text, overlaid
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.reader import read_events
from gpudoctor.logs.stated import read_facts
from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.observed import Log, LogEvent
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import OfText
from gpudoctor.present.headers import machine_line
from gpudoctor.sdk import Check, check
from tests.checks.machines import healthy_h100

CHECKS = registry.load().checks


def test_a_machine_without_a_text_is_not_asked_for_one() -> None:
    asked = {each.code for each in diagnose(healthy_h100(), CHECKS).checks}

    assert not asked & {each.code for each in CHECKS if each.needs_text}


def test_facts_change_what_they_tell_and_leave_the_rest() -> None:
    machine = healthy_h100()

    changed = overlaid(machine, snapshot_of((), read_facts(["tf=2.16.1", "env.X=1"])))

    assert changed.tensorflow is not None
    assert changed.tensorflow.version == "2.16.1"
    assert (changed.gpus, changed.kernel) == (machine.gpus, machine.kernel)
    assert changed.env == {**(machine.env or {}), "X": "1"}


def test_the_driver_of_an_old_text_is_not_called_old_by_the_calendar() -> None:
    told = snapshot_of(read_events(["hello"]), read_facts(["driver=418.87.01"]))

    assert "driver-end-of-life" not in {each.cause for each in judge_text(told, CHECKS).findings}


def said(of_text: OfText, *, severity: Severity = Severity.WARNING) -> Check[...]:
    """Return a check that finds something in every text, made by nobody we know."""

    def judge(log: Log) -> Iterator[Finding]:
        del log
        yield Finding(
            summary=f"Seen by {of_text}.", severity=severity, confidence=0.5, basis="b", fixes=(), cause="mig"
        )

    number = 90 + len(of_text)  # a code of its own
    made = check(
        code=f"GD1{number}", slug=f"by-{of_text}", title="t", family="driver", cause="mig", trials=(), of_text=of_text
    )
    return made(judge)


def seen(*checks: Check[...]) -> set[str]:
    told = snapshot_of((*read_events(["hello"]), LogEvent(kind="text_end", line=1)))
    return {each.slug for each in judge_text(told, checks).findings}


def test_a_suspicion_stands_only_where_the_text_shows_no_trouble() -> None:
    trouble, note = said("finding"), said("finding", severity=Severity.INFO)
    assert seen(said("suspicion")) == {"by-suspicion"}
    assert seen(said("suspicion"), note) == {"by-suspicion", "by-finding"}
    assert seen(said("suspicion"), trouble) == {"by-finding"}


def test_a_check_that_goes_by_a_date_is_not_asked_of_a_text() -> None:
    assert seen(said("nothing")) == set()


def test_nothing_told_is_unknown_never_healthy() -> None:
    assert judge_text(snapshot_of(()), CHECKS).summary.status.value == "unknown"
    assert judge_text(replace(Snapshot(), log=None), CHECKS).summary.status.value == "unknown"


@pytest.mark.parametrize(
    ("line", "maker"),
    [("Check failed: err == hipSuccess (98 vs. 0)", "AMD"), ("Metal device set to: Apple M1", "Apple")],
)
def test_a_gpu_of_another_maker_is_told_and_not_judged(line: str, maker: str) -> None:
    read = (*read_events([line]), LogEvent(kind="text_end", text="", line=1))
    report = judge_text(snapshot_of(read), registry.load().checks)
    assert report.findings == ()
    assert maker in report.summary.headline


def test_what_a_text_gives_cause_to_note_is_its_headline_and_not_that_it_shows_no_trouble() -> None:
    said = read_events(["NVRM: Xid (PCI:0000:01:00): 31, Ch 00000010"])

    report = judge_text(snapshot_of((*said, LogEvent(kind="text_end", line=2)), read_facts([])), CHECKS)

    assert report.summary.headline == "Xid 31: mostly a fault of the program, seldom of the card."


def test_a_gpu_that_a_text_names_has_a_driver_of_an_unknown_version() -> None:
    told = snapshot_of(read_events([]), read_facts(["gpu=GTX 1080"]))

    assert "driver unknown" in machine_line(judge_text(told, CHECKS))
