"""A run on a machine without a GPU: that TensorFlow finds no driver there is no trouble, however the script ends.

Leaving the words out always would be shorter; a command that failed, or trained nothing, may have looked for a GPU in vain,
and a note tells it so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from gpudoctor.diagnose.gpu_meant import is_meant
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.model.finding import NEXT_STEP, Evidence, Finding, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.session import Session
from gpudoctor.model.snapshot import Snapshot

NO_DRIVER = "library_not_found"  # NVML's status where there is no driver
OF_THE_GPU = ("GD1", "GD2")  # the families driver and libraries: why a GPU is not used
WISH = "`gpudoctor scan` examines the machine: this run saw no GPU and no driver on it"


def without_gpu_trouble(checks: Sequence[AnyCheck], snapshot: Snapshot, session: Session) -> list[AnyCheck]:
    """Return the checks of a text without those of a GPU that is not there, or with these speaking in notes."""
    others = [each for each in checks if not each.code.startswith(OF_THE_GPU)]
    if not _has_no_gpu(session) or len(others) == len(checks):
        return list(checks)
    if session.outcome == "running" or (session.exit_code == 0 and session.trained):
        return others
    if is_meant(snapshot) or not _imported_tensorflow(session):
        return list(checks)
    return [_in_notes(each) if each.code.startswith(OF_THE_GPU) else each for each in checks]


def _has_no_gpu(session: Session) -> bool:
    """Return whether the machine has none: NVML's library is absent only where no driver is installed at all. With any other answer somebody meant a GPU."""
    return session.nvml_status == NO_DRIVER and not session.gpu_samples


def _imported_tensorflow(session: Session) -> bool:
    """Return whether the words are those of a TensorFlow here: a launcher passes on what other machines say."""
    return any(not isinstance(each.tensorflow_version, Missing) for each in session.processes)


def _in_notes(check: AnyCheck) -> AnyCheck:
    judge = check.judge

    @functools.wraps(judge)
    def noting(*args: object, **facts: object) -> Iterator[Finding]:
        # the first is the likeliest: what else it may be matters only where a GPU is missed
        yield from (_note(each) for each in islice(judge(*args, **facts), 1))

    return replace(check, judge=noting)


def _note(finding: Finding) -> Finding:
    """Return it without fixes: nothing is to be installed for a GPU that is not there."""
    wish = Evidence(label="a GPU was meant?", value=WISH, source=NEXT_STEP)
    return replace(finding, severity=Severity.INFO, fixes=(), evidence=(*finding.evidence, wish))
