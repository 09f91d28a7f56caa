"""Findings of a run that goes on, without flapping: one is shown when it has held, and goes when it has been away.

Showing each judgement as it comes would be more direct; a share that hovers at its threshold would then blink each second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.report import Report

# Policy: judged about once a second, so it takes three seconds to show a finding and five to take it back.
HELD_READS, GONE_READS = 3, 5

Key = tuple[str, str, str, int]


@dataclass(slots=True)
class _Seen:
    finding: Finding
    held: int = 0
    gone: int = 0
    shown: bool = False


class SteadyFindings:
    """Remembers how long each finding held or has been away."""

    def __init__(self) -> None:
        self._seen: dict[Key, _Seen] = {}
        self._fixes: dict[str, Fix] = {}
        self._at_once = False

    def take(self, report: Report) -> Report:
        """Return the report with the findings that are steady, in the report's own order, and the fixes for them."""
        present = {_key(each): each for each in report.findings}
        for key, finding in present.items():
            seen = self._seen.setdefault(key, _Seen(finding))
            seen.finding, seen.held, seen.gone = finding, seen.held + 1, 0
            seen.shown = seen.shown or seen.held >= HELD_READS or self._at_once
        self._at_once = False
        for key in [key for key in self._seen if key not in present]:
            self._miss(key)
        findings = [each for key, each in present.items() if self._seen[key].shown]
        leaving = [seen.finding for key, seen in self._seen.items() if seen.shown and key not in present]
        shown = (*findings, *leaving)
        return replace(report, findings=shown, fixes=self._fixes_for(report, shown))

    def _miss(self, key: Key) -> None:
        seen = self._seen[key]
        seen.held, seen.gone = 0, seen.gone + 1
        if not seen.shown or seen.gone >= GONE_READS:
            del self._seen[key]

    def _fixes_for(self, report: Report, shown: tuple[Finding, ...]) -> tuple[Fix, ...]:
        codes = {each.code for each in shown}
        self._fixes = {key: each for key, each in self._fixes.items() if codes.intersection(each.addresses)}
        known = {each.id for each in report.fixes}
        kept = [each for each in self._fixes.values() if each.id not in known]
        fixes = (*(each for each in report.fixes if codes.intersection(each.addresses)), *kept)
        self._fixes = {each.id: each for each in fixes}
        return fixes

    def forget(self) -> None:
        """Begin anew, at another place of a recording: what is found there is shown at once."""
        self._at_once = True
        self._seen.clear()
        self._fixes.clear()


def _key(finding: Finding) -> Key:
    spot = finding.location
    return (finding.code, finding.cause, spot.file if spot else "", spot.line if spot else 0)
