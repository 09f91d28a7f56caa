"""Known findings are accepted: shown, but not counted. What is new, and what has become graver, counts.

The fingerprint is the finding's sentence without the figures that vary, not a hash: a reviewer of the file can read what
is accepted. Leaving out every figure would be tempting; it accepts Xid 79 for Xid 48, and GPU 5 for GPU 0. What counts
faults is kept beside it. A finding whose wording a later gpudoctor changes counts as new, which is loud but safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpudoctor.model.baseline import BASELINE_VERSION, Accepted, Baseline
from gpudoctor.model.finding import Evidence, Finding, Severity
from gpudoctor.model.report import Report

# Numbers that name something: devices, error codes, PCI addresses, models of GPUs, and what a variable is set to.
# Sizes, versions, pids, temperatures and shares of the same trouble vary.
NAMED = (
    r"GPUs? \d+(?:(?:, | and )\d+)*(?! *%)",
    r"Xid \d+(?:, \d+)*",
    r"(?:fail(?:s|ed)? with|returns|returned|signal|error|status|exit code|code) -?\d+\b(?![.,]\d)",
    r"\b[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.\d)?",
    r"(?:RTX|GTX|Quadro|Tesla|TITAN) ?\d+",
    r"\b[A-Z]+\d+\w*",
    r"\b[A-Z][A-Z0-9_]+=(?:'[^']*'|\S+)",
)
FIGURE = re.compile(rf"({'|'.join(NAMED)})|\d[\d.,]*(?<![.,])")
EVENT = re.compile(r"Xid \d+")  # evidence that names what happened, and where
# Counts of faults, by label. Corrected memory errors are not among them: they cost nothing, and any board has some.
MORE_IS_GRAVER = frozenset({"uncorrected", "errors logged", "remapped rows", "retired pages", "missing"})
FEWER_IS_GRAVER = frozenset({"generation under load", "width under load"})
LEFT = "GPUs"  # the unit of how many GPUs something still lists
Key = tuple[str, str, str]  # code, cause, fingerprint
RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def fingerprint(finding: Finding) -> str:
    """Return what the finding says, of which device and which file, without the figures that differ from run to run."""
    words = FIGURE.sub(lambda figure: figure[1] or "#", finding.summary)
    events = sorted({f"{each.label}, {each.source}" for each in finding.evidence if EVENT.match(each.label)})
    device = [finding.subject] if finding.subject and finding.subject not in words else []
    place = [] if finding.location is None else [finding.location.file]
    return words + "".join(f" [{each}]" for each in (*device, *events, *place))


def counts(finding: Finding) -> dict[str, float]:
    """Return what the finding counts so that a higher number is graver: what is left counts below zero."""
    signed = ((each.label, _sign(each), each.value) for each in finding.evidence)
    return {
        label: sign * value
        for label, sign, value in signed
        if sign and isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def _sign(evidence: Evidence) -> int:
    if evidence.label in MORE_IS_GRAVER:
        return 1
    return -1 if evidence.label in FEWER_IS_GRAVER or evidence.unit == LEFT else 0


def renewed(findings: Iterable[Finding], old: Baseline | None = None) -> Baseline:
    """Return the baseline that accepts all these findings; the notes of the old one are kept."""
    notes = {_entry(each): each.note for each in (old.accepted if old is not None else ())}
    unique: dict[Key, Accepted] = {}
    for each in findings:
        key = _key(each)
        new = Accepted(
            code=key[0], cause=key[1], fingerprint=key[2], severity=each.severity, note=notes.get(key, ""),
            counts=counts(each),
        )  # fmt: skip
        unique[key] = _gravest(unique[key], new) if key in unique else new
    return Baseline(accepted=tuple(unique[key] for key in sorted(unique)), baseline_version=BASELINE_VERSION)


def _gravest(one: Accepted, other: Accepted) -> Accepted:
    worst = min(one.severity, other.severity, key=RANK.__getitem__)
    highest = {
        name: max(each.counts[name] for each in (one, other) if name in each.counts)
        for name in {**one.counts, **other.counts}
    }
    return replace(one, severity=worst, counts=highest)


def apply(report: Report, baseline: Baseline) -> Report:
    """Return the report with the findings that the baseline knows marked as accepted, and counted as such."""
    known = {_entry(each): each for each in baseline.accepted}
    findings = tuple(replace(each, accepted=_is_known(each, known)) for each in report.findings)
    accepted = sum(each.accepted for each in findings)
    totals = {**report.summary.counts, "accepted": accepted}
    return replace(report, findings=findings, summary=replace(report.summary, counts=totals))


def _is_known(finding: Finding, known: Mapping[Key, Accepted]) -> bool:
    entry = known.get(_key(finding))
    if entry is None or RANK[finding.severity] < RANK[entry.severity]:
        return False
    return all(value <= entry.counts.get(name, -float("inf")) for name, value in counts(finding).items())


def _key(finding: Finding) -> Key:
    return finding.code, finding.cause, fingerprint(finding)


def _entry(accepted: Accepted) -> Key:
    return accepted.code, accepted.cause, accepted.fingerprint
