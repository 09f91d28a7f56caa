"""Another process on the same GPU: by what somebody says of it, or by nvidia-smi's table before memory ran out."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Log, LogEvent, Severity, Trial
from gpudoctor_checks.memory.growth_remedies import GROW
from gpudoctor_checks.memory.memory_remedies import FREE_GPU, WHO
from gpudoctor_checks.memory.oom_events import SHARED
from gpudoctor_checks.said import log_finding, stated, weigh_program

SAID_SHARED = 0.5  # policy: a sentence, and no line of a program
LISTED = 0.7  # policy: the table does not tell whether the process is the very one that ran out


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


def by_table(others: tuple[LogEvent, ...], lines: tuple[LogEvent, ...], trial: Trial | None) -> Finding:
    """Tell the process that nvidia-smi listed with most of the GPU."""
    pid = others[0].values["pid"]
    summary = f"Process {pid} held most of the GPU before memory ran out, by nvidia-smi; it may be an older run."
    evidence = (*others, *lines)
    return log_finding(summary, weigh_program(LISTED, trial), evidence, FREE_GPU, cause="other-process", know=WHO)
