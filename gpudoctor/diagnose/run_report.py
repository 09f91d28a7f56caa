"""The report of a recorded run: its facts judged by the checks that ask for them, and by no others.

The machine's own checks stay with `scan`: a run says nothing about a driver that it never asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpudoctor import __version__
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Plugin, Report
from gpudoctor.model.session import Session
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.timeline import analyse
from gpudoctor.redaction import Rewrite, redact

NOT_ASKED = "not asked: this is the report of a run; `gpudoctor scan` examines the machine"


def run_checks(checks: Sequence[AnyCheck]) -> tuple[AnyCheck, ...]:
    """Return the checks that judge a run."""
    return tuple(each for each in checks if each.needs_run)


def run_snapshot(session: Session, windows: Sequence[WindowShare] = ()) -> Snapshot:
    """Return a snapshot that holds the run and nothing else."""
    run = analyse(session, windows)
    groups = ("host", "nvml", "cuda", "kernel", "gpus", "python", "tensorflow", "probe")
    return Snapshot(tool_version=__version__, run=run, missing=dict.fromkeys(groups, NOT_ASKED))


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
    return diagnose(snapshot, run_checks(checks), level="run", plugins=plugins, severities=severities)
