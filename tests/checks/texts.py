"""Machines made of a text and a few stated facts, for the checks that read a log."""

from __future__ import annotations

from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.reader import read_events
from gpudoctor.logs.stated import read_facts
from gpudoctor.model.finding import Finding
from gpudoctor.model.observed import Trial
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.sdk import Check
from gpudoctor.testing import judge
from tests.checks.case import Case
from tests.checks.machines import broken, on_cpu, trained

QUIET = ("Epoch 1/2", "100/100 [=====] - 1s 2ms/step - loss: 0.3012")
UNUSABLE: tuple[Trial | None, Trial | None] = (trained(), on_cpu())
FAULTY: tuple[Trial | None, Trial | None] = (trained(), broken())


def a_text(*lines: str, **facts: str) -> Snapshot:
    """Return the machine that the lines and facts tell of; `env_NAME` stands for the fact `env.NAME`."""
    words = [f"{key.replace('env_', 'env.', 1)}={value}" for key, value in facts.items()]
    return snapshot_of(read_events(lines), read_facts(words))


def text_case(
    code: str,
    *lines: str,
    near: tuple[str, ...] = QUIET,
    variants: tuple[Trial | None, Trial | None] = FAULTY,
    **facts: str,
) -> Case:
    """Return the case of a check that finds its trouble in these lines and none in the near ones."""
    return Case(
        check_code=code,
        fires=a_text(*lines, **facts),
        near_miss=a_text(*near, **facts),
        lacking=Snapshot(),
        trial_variants=variants,
    )


def found(check: Check[...], *lines: str, **facts: str) -> Finding:
    """Return the first finding of the check on the text."""
    verdict = judge(check, a_text(*lines, **facts))
    assert verdict.findings, verdict.reason
    return verdict.findings[0]


def nothing(check: Check[...], *lines: str, **facts: str) -> bool:
    """Return whether the check finds nothing in the text."""
    return not judge(check, a_text(*lines, **facts)).findings
