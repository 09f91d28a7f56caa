"""The report of a recorded run: its facts judged by the checks that ask for them, what it printed by those that read a text.

The machine's own checks stay with `scan`: a run says nothing about a driver that it never asked. What was recorded outranks
what was printed: a cause that a check of the run has judged is not told a second time from the text, and what is no trouble
in a text is left to `gpudoctor log`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpudoctor import __version__
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.diagnose.run_without_gpu import without_gpu_trouble
from gpudoctor.diagnose.summary import judged_causes
from gpudoctor.logs.facts import GROUPS, snapshot_of
from gpudoctor.model.finding import Severity
from gpudoctor.model.observed import LogEvent
from gpudoctor.model.report import Plugin, Report
from gpudoctor.model.run import COMMANDS_OWN, Run
from gpudoctor.model.session import Session
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.timeline import analyse
from gpudoctor.redaction import Rewrite, redact

# What ends a training; Keras says the same of the first epoch of every generator, and goes on (measured: Keras 3.15)
STOPPING = frozenset({"data-ended"})
NOT_ASKED = "not asked: this is the report of a run; `gpudoctor scan` examines the machine"


def run_checks(checks: Sequence[AnyCheck]) -> tuple[AnyCheck, ...]:
    """Return the checks that judge a run."""
    return tuple(each for each in checks if each.needs_run)


def run_snapshot(session: Session, windows: Sequence[WindowShare] = ()) -> Snapshot:
    """Return a snapshot that holds the run, and what its text says; nothing else was asked."""
    told = snapshot_of(_events(session)) if session.messages else Snapshot()
    silent = {name: NOT_ASKED for name in GROUPS if getattr(told, name) is None}
    return replace(told, tool_version=__version__, run=analyse(session, windows), missing=silent)


def _events(session: Session) -> list[LogEvent]:
    return [
        LogEvent(kind=each.kind, text=each.text, values=each.details, line=each.line, count=each.count)
        for each in sorted(session.messages, key=lambda each: each.line)
        if each.kind
    ]


def relative(path: str, folder: str) -> str:
    """Return a path below the folder in which the command ran as the user wrote it; anything else as it is."""
    below = folder.rstrip("/") + "/"
    return path[len(below) :] if len(below) > 1 and path.startswith(below) else path


def report_of_run(
    session: Session,
    checks: Sequence[AnyCheck],
    *,
    windows: Sequence[WindowShare] = (),
    plugins: tuple[Plugin, ...] = (),
    severities: Mapping[str, Severity] | None = None,
    remarks: tuple[str, ...] = (),
    rewrite: Rewrite | None = None,
) -> Report:
    """Return the report of a recording; `checks` may be all that there are.

    `remarks`: what else could not be seen. `rewrite` masks what identifies a person or a machine, before anything is judged.
    """
    snapshot = run_snapshot(session, windows)
    if snapshot.run is not None and remarks:
        limits = tuple(dict.fromkeys((*remarks, *snapshot.run.limits)))
        snapshot = replace(snapshot, run=replace(snapshot.run, limits=limits))
    if rewrite is not None:
        mask = rewrite
        snapshot = redact(snapshot, rewrite=lambda text: mask(relative(text, session.folder)))
    judges = run_checks(checks)
    if snapshot.log is not None:
        judges = (*judges, *_speaking(snapshot, checks, judges, session))
    made = diagnose(snapshot, judges, level="run", plugins=plugins, severities=severities)
    return replace(made, target=_target(snapshot.run))


def _target(run: Run | None) -> dict[str, str]:
    """Return which interpreter trained and why that one, as the report of a scan says it of what it examines."""
    if run is None or not run.command:
        return {}
    if not run.executable:
        return {"executable": run.command[0], "chosen_by": f"{COMMANDS_OWN}; no Python process was seen"}
    return {"executable": run.executable, "chosen_by": run.chosen_by or COMMANDS_OWN}


def _speaking(
    snapshot: Snapshot, checks: Sequence[AnyCheck], judges: Sequence[AnyCheck], session: Session
) -> list[AnyCheck]:
    """Return the checks of a text that find a trouble here whose cause the run's own checks could not judge."""
    own = diagnose(snapshot, judges, level="run")
    judged = judged_causes(own.checks)
    said = diagnose(snapshot, [each for each in checks if each.needs_text and not each.needs_run], level="run")
    if snapshot.run is not None and snapshot.run.exit_code == 0:
        judged |= STOPPING
    codes = {each.code for each in said.findings if each.severity is not Severity.INFO and each.cause not in judged}
    speaking = [each for each in checks if each.code in codes]
    return without_gpu_trouble(speaking, snapshot, session)
