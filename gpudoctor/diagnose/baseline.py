"""Known findings are accepted: shown, but not counted. What is new, and what has become graver, counts.

The fingerprint is the finding's sentence without its figures, not a hash: a reviewer of the file can read what is accepted.
A finding whose wording a later gpudoctor changes counts as new, which is loud but safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.model.baseline import BASELINE_VERSION, Accepted, Baseline
from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.report import Report

# A GPU's index tells one trouble from another; sizes, versions, pids and temperatures of the same trouble vary.
FIGURE = re.compile(r"(GPU \d+)|\d[\d.,]*(?<![.,])")
Key = tuple[str, str, str]  # code, cause, fingerprint
RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def fingerprint(finding: Finding) -> str:
    """Return what the finding says and of which file, without the figures that differ from run to run."""
    place = "" if finding.location is None else f" [{finding.location.file}]"
    return FIGURE.sub(lambda figure: figure[1] or "#", finding.summary) + place


def renewed(findings: Iterable[Finding], old: Baseline | None = None) -> Baseline:
    """Return the baseline that accepts all these findings; the notes of the old one are kept."""
    notes = {_entry(each): each.note for each in (old.accepted if old is not None else ())}
    gravest_last = sorted(findings, key=lambda each: -RANK[each.severity])
    unique = {
        key: Accepted(code=key[0], cause=key[1], fingerprint=key[2], severity=each.severity, note=notes.get(key, ""))
        for each in gravest_last
        for key in (_key(each),)
    }
    return Baseline(accepted=tuple(unique[key] for key in sorted(unique)), baseline_version=BASELINE_VERSION)


def apply(report: Report, baseline: Baseline) -> Report:
    """Return the report with the findings that the baseline knows marked as accepted, and counted as such."""
    known = {_entry(each): each.severity for each in baseline.accepted}
    findings = tuple(replace(each, accepted=_is_known(each, known)) for each in report.findings)
    accepted = sum(each.accepted for each in findings)
    counts = {**report.summary.counts, "accepted": accepted}
    return replace(report, findings=findings, summary=replace(report.summary, counts=counts))


def _is_known(finding: Finding, known: dict[Key, Severity]) -> bool:
    severity = known.get(_key(finding))
    return severity is not None and RANK[finding.severity] >= RANK[severity]


def _key(finding: Finding) -> Key:
    return finding.code, finding.cause, fingerprint(finding)


def _entry(accepted: Accepted) -> Key:
    return accepted.code, accepted.cause, accepted.fingerprint
