"""`gpudoctor scan`: examine this machine (or a saved snapshot), judge, print, and choose the exit code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpudoctor import __version__
from gpudoctor.cli import configuration, outputs
from gpudoctor.cli.configuration import Settings
from gpudoctor.cli.output import write_file
from gpudoctor.cli.outputs import Output
from gpudoctor.cli.parser import Arguments
from gpudoctor.codec import dumps, snapshot_to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.gate import exit_code
from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.diagnose.selection import nearest, select
from gpudoctor.diagnose.summary import Expectation, of_a_part, unmet
from gpudoctor.errors import UsageError
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import Snapshot

if TYPE_CHECKING:
    from gpudoctor.model.baseline import Baseline  # few scans have one


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
    wanted = outputs.paired(arguments.outputs)
    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    accepted = _baseline(arguments)
    judges = cache(lambda: _judges(arguments, settings))
    subject = (
        _saved(arguments, arguments.snapshot)
        if arguments.snapshot
        else Subject(snapshot=Snapshot(), level="quick", target={"executable": "?", "chosen_by": "--no-machine"})
        if arguments.no_machine
        else _this_machine(arguments, settings, lambda: judges()[1], wanted)
    )
    known, checks = judges()
    if arguments.log or arguments.fact:
        subject = _with_text(arguments, subject)
    report = replace(
        _gated(arguments, _report(arguments, settings, known, checks, subject), accepted),
        tool={"name": "gpudoctor", "version": __version__},
        started_at=started_at,
        duration_s=round(time.perf_counter() - begun, 3),
    )
    if arguments.save_snapshot:
        write_file(arguments.save_snapshot, dumps(snapshot_to_builtins(report.snapshot)) + "\n")
    outputs.write(wanted, report, verbose=arguments.verbose, target_shown=subject.target_shown)
    return exit_code(report)


def _judges(arguments: Arguments, settings: Settings) -> tuple[Registry, tuple[AnyCheck, ...]]:
    """Load all checks and return them with those to run."""
    known = registry.load()
    check_rules(settings, known)
    chosen, ignored = arguments.select or settings.select, arguments.ignore or settings.ignore
    return known, select(known.checks, chosen=chosen, ignored=ignored)


def _with_text(arguments: Arguments, subject: Subject) -> Subject:
    """Lay what a text and stated facts tell over the machine."""
    from gpudoctor.cli.log import told_by  # noqa: PLC0415  # most scans read no text
    from gpudoctor.diagnose.from_text import overlaid  # noqa: PLC0415

    return replace(subject, snapshot=overlaid(subject.snapshot, told_by(arguments, arguments.log)))


def check_rules(settings: Settings, known: Registry) -> None:
    """Raise UsageError for a rule of the configuration that no check has."""
    codes = {each.code for each in known.checks}
    for code in settings.severities:
        if code not in codes:
            raise UsageError(f"rules.{code}: no check has this code{nearest(known.checks, code)}")


def _report(
    arguments: Arguments, settings: Settings, known: Registry, checks: Sequence[AnyCheck], subject: Subject
) -> Report:
    if arguments.no_machine:
        from gpudoctor.diagnose.from_text import judge_text  # noqa: PLC0415  # most scans have a machine

        report = judge_text(subject.snapshot, checks, plugins=known.plugins, severities=settings.severities)
    else:
        report = diagnose(
            subject.snapshot, checks, level=subject.level, plugins=known.plugins, severities=settings.severities
        )
    wanted = Expectation(gpus=arguments.expect_gpus, strict=arguments.strict or settings.strict)
    reason = unmet(wanted, report.checks, subject.snapshot, level=subject.level, checks=checks)
    return replace(
        report,
        target=subject.target,
        summary=replace(of_a_part(report.summary, checks, known.checks), expectation=reason),
        fail_on=arguments.fail_on or settings.fail_on,
    )


def _baseline(arguments: Arguments) -> Baseline | None:
    """Read the baseline before anything is examined: a mistake in it is told at once."""
    if arguments.baseline is None:
        return None
    from gpudoctor.cli import baseline_file  # noqa: PLC0415  # most scans have none

    return baseline_file.read(arguments.baseline)


def _gated(arguments: Arguments, report: Report, accepted: Baseline | None) -> Report:
    """Return the report with what the baseline accepts, after writing one where that was asked for."""
    if accepted is None and arguments.write_baseline is None:
        return report
    from gpudoctor.diagnose import baseline  # noqa: PLC0415

    if arguments.write_baseline is not None:
        from gpudoctor.cli import baseline_file  # noqa: PLC0415

        accepted = baseline.renewed(report.findings, accepted)
        baseline_file.write(arguments.write_baseline, accepted)
    return baseline.apply(report, accepted) if accepted is not None else report


def _saved(arguments: Arguments, path: str) -> Subject:
    from gpudoctor.cli.saved import read_snapshot  # noqa: PLC0415  # a live scan reads none

    saved = read_snapshot(path)
    target = {"executable": saved.python, "chosen_by": f"snapshot {path}"}
    return Subject(snapshot=saved.snapshot, level=arguments.level or saved.level, target=target)


def _this_machine(
    arguments: Arguments,
    settings: Settings,
    load_checks: Callable[[], Sequence[AnyCheck]],
    wanted: Sequence[Output],
) -> Subject:
    from gpudoctor.cli.examine import examined  # noqa: PLC0415  # judging a saved snapshot needs no collector

    level = arguments.level or "standard"
    announce = any(each.on_stdout and each.format == "text" for each in wanted)
    result = examined(arguments, settings, load_checks, level=level, announce=announce)
    return Subject(snapshot=result.snapshot, level=level, target=result.target, target_shown=result.target_shown)
