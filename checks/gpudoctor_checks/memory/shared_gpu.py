"""Another process on the same GPU, by what somebody says of it: a suspicion where no memory runs out in the text."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Log, Severity, Trial
from gpudoctor_checks.memory.growth_remedies import GROW
from gpudoctor_checks.memory.memory_remedies import FREE_GPU, WHO
from gpudoctor_checks.memory.oom_events import SHARED
from gpudoctor_checks.said import log_finding, stated, weigh_program

SAID_SHARED = 0.5  # policy: a sentence, and no line of a program


def by_word(log: Log, trial: Trial | None) -> Iterator[Finding]:
    """Judge a text in which no memory runs out, but another process on the same GPU is spoken of."""
    if SHARED.search(stated(log, "other")):
        yield log_finding(
            "Another process, by what is said, uses the same GPU, and an idle one keeps its memory.",
            weigh_program(SAID_SHARED, trial),
            (),
            FREE_GPU,
            GROW,
            cause="other-process",
            know=WHO,
            severity=Severity.WARNING,
            more=(Evidence(label="said", value=stated(log, "other")[:120], source="stated"),),
        )
