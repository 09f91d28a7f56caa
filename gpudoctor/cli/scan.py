"""`gpudoctor scan`: examine this machine (or a saved snapshot), judge, print, and choose the exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from gpudoctor import __version__
from gpudoctor.cli import configuration
from gpudoctor.cli.configuration import Settings
from gpudoctor.cli.output import emit, write_file
from gpudoctor.cli.parser import Arguments
from gpudoctor.codec import dumps, load_snapshot, snapshot_to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.diagnose.selection import nearest, select
from gpudoctor.diagnose.summary import Expectation, unmet
from gpudoctor.errors import SnapshotError, UsageError
from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import either
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import Snapshot

EXIT_CLEAN, EXIT_FINDINGS, EXIT_UNMET = 0, 1, 3
THRESHOLD = {
    "never": frozenset[Severity](),
    "error": frozenset({Severity.ERROR}),
    "warning": frozenset({Severity.ERROR, Severity.WARNING}),
    "info": frozenset(Severity),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is judged: the snapshot, how far it went, whose interpreter, and whether its line is on the screen."""

    snapshot: Snapshot
    level: str
    target: dict[str, str]
    target_shown: bool = False


def run(arguments: Arguments) -> int:
    """Run the scan and return the exit code."""
    begun, started_at = time.perf_counter(), datetime.now(timezone.utc).isoformat(timespec="seconds")
    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    known = registry.load()
    _check_rules(settings, known)
    checks = select(
        known.checks,
        chosen=arguments.select or settings.select,
        ignored=arguments.ignore or settings.ignore,
    )
    subject = (
        _saved(arguments, arguments.snapshot) if arguments.snapshot else _this_machine(arguments, settings, checks)
    )
    report = replace(
        _report(arguments, settings, known, checks, subject),
        tool={"name": "gpudoctor", "version": __version__},
        started_at=started_at,
        duration_s=round(time.perf_counter() - begun, 3),
    )
    if arguments.save_snapshot:
        write_file(arguments.save_snapshot, dumps(snapshot_to_builtins(report.snapshot)) + "\n")
    emit(_rendered(arguments, report, target_shown=subject.target_shown), arguments.output)
    return exit_code(report, arguments.fail_on or settings.fail_on)


def _check_rules(settings: Settings, known: Registry) -> None:
    codes = {each.code for each in known.checks}
    for code in settings.severities:
        if code not in codes:
            raise UsageError(f"rules.{code}: no check has this code{nearest(known.checks, code)}")


def _report(
    arguments: Arguments, settings: Settings, known: Registry, checks: Sequence[AnyCheck], subject: Subject
) -> Report:
    report = diagnose(
        subject.snapshot, checks, level=subject.level, plugins=known.plugins, severities=settings.severities
    )
    wanted = Expectation(gpus=arguments.expect_gpus, strict=arguments.strict or settings.strict)
    reason = unmet(wanted, report.checks, subject.snapshot, level=subject.level, checks=checks)
    return replace(report, target=subject.target, summary=replace(report.summary, expectation=reason))


def exit_code(report: Report, fail_on: str) -> int:
    """Return 3 where an expectation is not met, 1 for findings at or above `fail_on`, else 0."""
    if report.summary.expectation:
        return EXIT_UNMET
    bad = THRESHOLD[fail_on]
    return EXIT_FINDINGS if any(finding.severity in bad for finding in report.findings) else EXIT_CLEAN


def _saved(arguments: Arguments, path: str) -> Subject:
    snapshot = load_snapshot(_read(path), name=path)
    level = arguments.level or ("quick" if snapshot.probe is None else "standard")
    python = either(snapshot.python.executable, "?") if snapshot.python is not None else "?"
    return Subject(snapshot=snapshot, level=level, target={"executable": python, "chosen_by": f"snapshot {path}"})


def _read(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise SnapshotError(
            f"{path}: cannot be read ({error.strerror or error}); make one with `gpudoctor scan --save-snapshot FILE`"
        ) from error


def _this_machine(arguments: Arguments, settings: Settings, checks: Sequence[AnyCheck]) -> Subject:
    from gpudoctor.cli.examine import examined  # noqa: PLC0415  # judging a saved snapshot needs no collector

    level = arguments.level or "standard"
    result = examined(arguments, settings, checks, level=level)
    return Subject(snapshot=result.snapshot, level=level, target=result.target, target_shown=result.target_shown)


def _rendered(arguments: Arguments, report: Report, *, target_shown: bool) -> str:
    if arguments.json:
        from gpudoctor.present import json  # noqa: PLC0415  # one of the two is needed

        return json.render(report)
    from gpudoctor.present import text  # noqa: PLC0415
    from gpudoctor.present.style import Style, wants_color  # noqa: PLC0415

    to_file = arguments.output not in {None, "-"}
    style = Style(color=not to_file and wants_color(sys.stdout))
    return text.render(report, style=style, verbose=arguments.verbose, target_shown=target_shown and not to_file)
