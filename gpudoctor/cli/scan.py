"""`gpudoctor scan`: examine this machine (or a saved snapshot), judge, print, and choose the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.judging import Judging
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.summary import Expectation, of_a_part, unmet
from gpudoctor.model.report import SAVED, Report
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Level

if TYPE_CHECKING:
    from gpudoctor.model.baseline import Baseline  # few scans have one


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is judged: the snapshot, how far it went, whose interpreter, and whether its line is on the screen."""

    snapshot: Snapshot
    level: Level
    target: Mapping[str, str]
    target_shown: bool = False


def run(arguments: Arguments) -> int:
    """Run the scan and return the exit code."""
    judging = Judging(arguments)
    accepted = _baseline(arguments)
    subject = (
        _saved(arguments, arguments.snapshot)
        if arguments.snapshot
        else Subject(snapshot=Snapshot(), level="quick", target={"executable": "?", "chosen_by": "--no-machine"})
        if arguments.no_machine
        else _this_machine(arguments, judging)
    )
    if arguments.log or arguments.fact:
        subject = _with_text(arguments, subject)
    report = _gated(arguments, _report(arguments, judging, subject), accepted)
    return judging.conclude(report, subject.target, target_shown=subject.target_shown)


def _with_text(arguments: Arguments, subject: Subject) -> Subject:
    """Lay what a text and stated facts tell over the machine."""
    from gpudoctor.cli.log import told_by  # noqa: PLC0415  # most scans read no text
    from gpudoctor.diagnose.from_text import overlaid  # noqa: PLC0415

    return replace(subject, snapshot=overlaid(subject.snapshot, told_by(arguments, arguments.log)))


def _report(arguments: Arguments, judging: Judging, subject: Subject) -> Report:
    settings, known, checks = judging.settings, judging.known, judging.checks
    if arguments.no_machine:
        from gpudoctor.diagnose.from_text import judge_text  # noqa: PLC0415  # most scans have a machine

        report = judge_text(subject.snapshot, checks, plugins=known.plugins, severities=settings.severities)
    else:
        report = diagnose(
            subject.snapshot, checks, level=subject.level, plugins=known.plugins, severities=settings.severities
        )
    wanted = Expectation(gpus=arguments.expect_gpus, strict=arguments.strict or settings.strict)
    reason = unmet(wanted, report.checks, subject.snapshot, level=subject.level, checks=checks)
    return replace(report, summary=replace(of_a_part(report.summary, checks, known.checks), expectation=reason))


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
    from gpudoctor.examine.saved import read_snapshot  # noqa: PLC0415  # a live scan reads none

    saved = read_snapshot(path, identifiers=arguments.include_identifiers)
    target = {"executable": saved.python, "chosen_by": f"{SAVED}{path}"}
    return Subject(snapshot=saved.snapshot, level=arguments.level or saved.level, target=target)


def _this_machine(arguments: Arguments, judging: Judging) -> Subject:
    from gpudoctor.cli.examine import examined  # noqa: PLC0415  # judging a saved snapshot needs no collector

    level = arguments.level or "standard"
    announce = any(each.on_stdout and each.format == "text" for each in judging.outputs)
    result = examined(arguments, judging.settings, lambda: judging.checks, level=level, announce=announce)
    return Subject(snapshot=result.snapshot, level=level, target=result.target, target_shown=announce)
