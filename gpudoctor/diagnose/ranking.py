"""Order fixes: unblockers first, then expected time saved x confidence, better grade on ties, then lower effort.

Gains are never added up. A gain whose interval does not clear the noise is shown as unproven, whatever the check hoped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.model.finding import Finding, Fix, Gain, Grade

NO_GAIN_BELOW = 1.02  # the probe's own noise bar: a gain counts when its whole 95 % interval lies above it
GRADES = {grade: place for place, grade in enumerate(Grade)}


def rank(findings: Iterable[Finding]) -> tuple[Fix, ...]:
    """Return the fixes of the findings that stand for themselves, best first, each once with all codes it addresses."""
    merged: dict[str, tuple[Fix, float, int]] = {}
    for place, finding in enumerate(findings):
        if finding.caused_by is not None:
            continue
        for fix in finding.fixes:
            merged[fix.id] = _merge(merged.get(fix.id), replace(fix, gain=proven(fix.gain)), finding, place)
    return tuple(fix for fix, _, _ in sorted(merged.values(), key=_order))


def _merge(known: tuple[Fix, float, int] | None, fix: Fix, finding: Finding, place: int) -> tuple[Fix, float, int]:
    if known is None:
        return replace(fix, addresses=(*fix.addresses, finding.code)), finding.confidence, place
    first, confidence, where = known
    codes = tuple(dict.fromkeys((*first.addresses, finding.code)))
    return replace(first, addresses=codes), max(confidence, finding.confidence), where


def _order(entry: tuple[Fix, float, int]) -> tuple[bool, float, int, int, float]:
    fix, confidence, place = entry
    unblocks = fix.gain.grade is Grade.UNBLOCKS
    worth = 0.0 if unblocks else -saved_share(fix.gain) * confidence
    return (not unblocks, worth, place if unblocks else GRADES[fix.gain.grade], place, fix.effort_minutes)


def saved_share(gain: Gain) -> float:
    """Return the share of the time that a speed-up saves: 2.0 -> 0.5; none where nothing is proven."""
    return 0.0 if gain.speedup is None or gain.speedup <= 1 else 1 - 1 / gain.speedup


def proven(gain: Gain) -> Gain:
    """Return the gain, graded down to unproven where its interval does not clear the noise."""
    if gain.grade in {Grade.MEASURED, Grade.PROBE} and (gain.low is None or gain.low <= NO_GAIN_BELOW):
        return Gain(grade=Grade.UNPROVEN, basis=gain.basis or "no proven gain")
    return gain
