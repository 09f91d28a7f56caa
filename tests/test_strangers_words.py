"""Whatever a stranger's snapshot or text holds, no command that a report tells to copy runs it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.model.observed import Log, LogEvent
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import load_machine
from tests.strangers_words import WORDS, commands, kind_of, runs, texts, with_text

MACHINES = sorted((Path(__file__).parents[1] / "fixtures" / "machines").iterdir())


def obeyed(most: int) -> list[str]:
    """Return the commands that would run a stranger's words, each text of a kind tried in so many machines."""
    checks, tried = registry.load().checks, Counter[object]()
    found: list[str] = []
    for folder in MACHINES:
        machine = load_machine(folder)
        for path, text in texts(machine):
            kind = kind_of(machine, path)
            tried[kind] += 1
            if tried[kind] > most:
                continue
            for word in WORDS:
                report = diagnose(with_text(machine, path, word(text)), checks)
                found += [f"{folder.name} {path}: {each}" for each in commands(report) if runs(each)]
    assert len(tried) > 100  # the walk is one: fields of the machine, values of events
    return found


def test_no_text_of_a_machine_is_run_by_a_command_of_its_report() -> None:
    assert obeyed(2) == []


@pytest.mark.parametrize(
    "log",
    [
        Log(events=(LogEvent(kind="stated", values={"tf": "2.4.0';zqj;'", "python": "3.12"}),)),
        Log(
            events=(
                LogEvent(kind="stated", values={"tf": "1.15.0;zqj;"}),
                LogEvent(
                    kind="gpu_skipped", values={"why": "compute_capability", "capability": "3.5", "minimum": "5.2;zqj;"}
                ),
            )
        ),
        Log(events=(LogEvent(kind="gpu_skipped", values={"why": "multiprocessor_count", "count": "1;zqj;"}),)),
    ],
)
def test_no_text_that_was_stated_or_read_is_run(log: Log) -> None:
    report = judge_text(Snapshot(log=log), registry.load().checks)
    assert [each for each in commands(report) if runs(each)] == []


@pytest.mark.long
def test_no_text_of_any_machine_is_run_by_a_command_of_its_report() -> None:
    assert obeyed(1_000_000) == []


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("pip install 'a==1';zqj;''", True),
        ("export A=1;zqj;", True),
        ('echo "$(zqj)"', True),
        ("pip install '--zqj'", True),
        ("ls 'a\nzqj'", True),
        ("pip install 'a==1zqj'", False),
        ("ls 'it'\"'\"'s zqj'", False),
        ("pip install a", False),
    ],
)
def test_what_a_shell_would_run_is_seen(command: str, told: bool) -> None:
    assert runs(command) is told
