"""Deadlines on a clock of the test's own: how long a gathering waits in all, whatever its sources do."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gpudoctor.collect import gathering
from gpudoctor.collect.gathering import gather
from gpudoctor.collect.isolate import Answers, Message, Source
from gpudoctor.model.missing import Missing

DEADLINE_S = 3.0


class Stage:
    """A carrier whose children answer at the second that is told, or never; waiting moves the clock and nothing else."""

    def __init__(self, answers_at: dict[str, float]) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.abandoned: list[str] = []
        self._answers_at = answers_at

    def start(self, source: Source, answers: Answers) -> None:
        """Begin to ask the source."""

    def receive(self, timeout_s: float) -> Iterable[tuple[str, Message]]:
        """Wait for the next answer, as long as one may."""
        self.waits.append(timeout_s)
        due = {at: name for name, at in self._answers_at.items() if at <= self.now + timeout_s}
        if not due:
            self.now += timeout_s
            return []
        self.now = max(self.now, min(due))
        name = due[min(due)]
        del self._answers_at[name]
        return [(name, Message("done", f"{name} at {self.now:g}", name))]

    def abandon(self, name: str) -> None:
        """Let go of a source."""
        self.abandoned.append(name)

    def finish(self) -> None:
        """Let go of everything."""


def nothing(_: Answers) -> None:
    """Stand for a call: the stage answers for it."""


def source(name: str, *, after: tuple[str, ...] = (), then: tuple[Source, ...] = (), s: float = DEADLINE_S) -> Source:
    return Source(name=name, collect=nothing, deadline_s=s, after=after, then=then)


def asked(monkeypatch: pytest.MonkeyPatch, *sources: Source, **answers_at: float) -> tuple[Stage, dict[str, object]]:
    """Return the stage after the gathering, and what each source said."""
    stage = Stage(answers_at)
    monkeypatch.setattr(gathering, "monotonic", lambda: stage.now)
    outcomes = gather(sources, carrier=stage)
    return stage, {name: each.value for name, each in outcomes.items()}


def test_sources_that_all_hang_cost_one_deadline_together(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, told = asked(monkeypatch, *(source(name) for name in ("nvml", "cuda", "kernel")))
    assert (stage.now, stage.waits) == (DEADLINE_S, [DEADLINE_S])
    assert set(told.values()) == {Missing("timeout after 3 s")}
    assert sorted(stage.abandoned) == ["cuda", "kernel", "nvml"]


def test_who_answers_does_not_prolong_the_wait_for_who_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, told = asked(monkeypatch, source("hangs"), source("quick"), source("slow"), quick=0.5, slow=2.5)
    assert (stage.now, told["quick"], told["slow"]) == (DEADLINE_S, "quick at 0.5", "slow at 2.5")
    assert told["hangs"] == Missing("timeout after 3 s")


def test_each_has_its_own_deadline_from_its_own_start(monkeypatch: pytest.MonkeyPatch) -> None:
    late = source("late", after=("first",), s=1.0)
    stage, told = asked(monkeypatch, source("first"), late, source("short", s=0.5), first=2.0)
    assert stage.waits == [0.5, 2.5, 1.0]
    assert (stage.now, told["short"], told["late"]) == (
        3.0,
        Missing("timeout after 0.5 s"),
        Missing("timeout after 1 s"),
    )


def test_behind_one_that_hangs_the_next_is_asked_by_a_child_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, told = asked(monkeypatch, source("hangs", then=(source("next"),)), next=4.0)
    assert (stage.now, stage.abandoned[0]) == (4.0, "hangs")
    assert told == {"hangs": Missing("timeout after 3 s"), "next": "next at 4"}


def test_when_all_have_answered_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, told = asked(monkeypatch, source("one"), source("two"), one=0.25, two=0.5)
    assert (stage.now, told) == (0.5, {"one": "one at 0.25", "two": "two at 0.5"})
