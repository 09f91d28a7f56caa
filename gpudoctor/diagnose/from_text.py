"""Judges a text: which checks may speak where the machine is not there to be asked, and how the facts are put together.

A text has no date and shows what went wrong, so notes on what else could be better are left to `scan`: they would stand
in front of the answer, and the driver of an old post is always past its end of life.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.gpu_meant import as_note, without_a_gpu
from gpudoctor.diagnose.ranking import rank
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.diagnose.summary import primary_of
from gpudoctor.diagnose.text_limits import with_gpu_to_know
from gpudoctor.model.finding import NOISE, Finding, Severity
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.observed import EPOCH, STATED, TEXT_END, Log
from gpudoctor.model.report import Plugin, Report, Status
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import TensorFlow
from gpudoctor.sdk import Check

SAID_NOTHING = frozenset({STATED, TEXT_END, EPOCH})  # events that every text has
NOTHING_FOLLOWS = "Nothing wrong follows from what was stated"
NOTHING_RECOGNISED = "Nothing in this text is recognised"
OTHER_MAKER = "other_maker"
OTHERS = "GPU of {}: only NVIDIA's are judged here"
NO_TROUBLE = "The text shows no trouble that is known"


def judge_text(
    snapshot: Snapshot,
    checks: Sequence[AnyCheck],
    *,
    plugins: tuple[Plugin, ...] = (),
    severities: Mapping[str, Severity] | None = None,
) -> Report:
    """Return the report on a text and the facts beside it."""
    fitting = [each for each in checks if each.of_text != "nothing"]
    suspecting = {each.code for each in fitting if each.of_text == "suspicion"}
    report = diagnose(snapshot, fitting, level="quick", plugins=plugins, severities=severities)
    reading = {each.code for each in fitting if reads_log(each)}
    silent = not _was_read(snapshot)  # facts alone: whatever follows from them is the answer
    spoken = tuple(each for each in report.findings if silent or _speaks(each, reading, report.findings))
    kept = _without_suspicions(spoken, suspecting)
    without = without_a_gpu(snapshot, kept)
    told = with_gpu_to_know(snapshot, kept)
    told = tuple(as_note(each) for each in told) if without else told
    findings = tuple(_told_apart(each) for each in told) if _troubles(told) else told
    primary = primary_of(findings)
    asked = next((each.summary for each in findings if each.code in suspecting), "")
    headline = primary.summary if primary is not None else without or asked or _nothing(snapshot, findings)
    return replace(
        report,
        findings=findings,
        fixes=rank(findings),
        summary=replace(
            report.summary,
            headline=headline,
            primary=None if primary is None else primary.code,
            counts={**report.summary.counts, **({"error": 0, "warning": 0} if without else {}), **_notes(findings)},
            status=Status.UNKNOWN if without or report.summary.status is Status.HEALTHY else report.summary.status,
        ),
    )


def _notes(findings: Sequence[Finding]) -> dict[str, int]:
    return {"info": sum(each.severity is Severity.INFO for each in findings)}


def reads_log(check: Check[...]) -> bool:
    """Return whether the check reads the events of a text."""
    return any(need.fact is Log for need in check.needs)


def _was_read(snapshot: Snapshot) -> bool:
    return snapshot.log is not None and any(each.kind == TEXT_END for each in snapshot.log.events)


def _told_apart(finding: Finding) -> Finding:
    """Return noise without its "ignore it": beside a real trouble that is no fix."""
    return replace(finding, fixes=()) if finding.cause == NOISE else finding


def _speaks(finding: Finding, reading: set[str], all_: Sequence[Finding]) -> bool:
    """Keep what the text says; what the facts alone suggest only as an error, or as a warning where the text is silent."""
    if finding.code in reading or finding.severity is Severity.ERROR:
        return True
    said = any(each.code in reading and each.severity is not Severity.INFO for each in all_)
    return finding.severity is Severity.WARNING and not said


def _without_suspicions(findings: tuple[Finding, ...], suspecting: set[str]) -> tuple[Finding, ...]:
    """Leave out what only a run can tell where the text itself shows a trouble: that is to be mended first."""
    told = tuple(each for each in findings if each.code not in suspecting)
    return told if _troubles(told) else findings


def _troubles(findings: Sequence[Finding]) -> bool:
    return any(each.severity is not Severity.INFO for each in findings)


def _nothing(snapshot: Snapshot, notes: Sequence[Finding]) -> str:
    """Return the headline where nothing is wrong: another maker's GPU, a note that the text gave cause for, or neither."""
    if not _was_read(snapshot):
        return NOTHING_FOLLOWS
    events = snapshot.log.events if snapshot.log is not None else ()
    maker = next((each.values["maker"] for each in events if each.kind == OTHER_MAKER), "")
    if maker:
        return OTHERS.format(maker)
    noted = next((each.summary for each in notes if each.cause != NOISE), "")
    if noted:
        return noted
    return NO_TROUBLE if any(each.kind not in SAID_NOTHING for each in events) else NOTHING_RECOGNISED


def overlaid(base: Snapshot, told: Snapshot) -> Snapshot:
    """Return the base with everything that was told over it, field by field; the log is the told one."""
    changes: dict[str, Any] = {}
    for each in fields(Snapshot):
        mine: object = getattr(base, each.name)
        theirs: object = getattr(told, each.name)
        if theirs is None or each.name in {"schema_version", "tool_version", "taken_at", "missing", "timings_s"}:
            continue
        if each.name == "tensorflow" and mine is not None and _same_release(mine, theirs):
            continue  # what follows from a release alone must not outrank what is known of the machine
        if each.name == "log":
            changes["log"] = _joined(base.log, told.log)
        elif each.name in {"env", "packages"}:
            changes[each.name] = {**cast("dict[str, str]", mine or {}), **cast("dict[str, str]", theirs)}
        elif is_dataclass(theirs) and mine is not None:
            changes[each.name] = _filled(mine, theirs)
        else:
            changes[each.name] = theirs
    return replace(base, **changes)


def _same_release(mine: object, theirs: object) -> bool:
    known = [either(each.version, "") for each in (mine, theirs) if isinstance(each, TensorFlow)]
    return len(known) == 2 and known[0] != "" and known[0] == known[1]


def _joined(mine: Log | None, theirs: Log | None) -> Log:
    """Return the told log, with what was stated before in front."""
    before = tuple(each for each in (mine.events if mine is not None else ()) if each.kind == STATED)
    return Log(events=(*before, *(theirs.events if theirs is not None else ())))


def _filled(mine: object, theirs: object) -> object:
    """Return mine with those fields of theirs that are known."""
    known = {
        each.name: value
        for each in fields(cast("Any", theirs))
        if not isinstance(value := getattr(theirs, each.name), Missing) and value != each.default
    }
    return replace(cast("Any", mine), **known)
