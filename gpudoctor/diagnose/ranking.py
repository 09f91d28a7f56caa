"""Order fixes, each once: unblockers first, then expected time saved x confidence, better grade on ties, then lower effort.

The first trouble is what is to be mended first: where no gain of its fixes is known, its first one leads all speed-ups.
What a mere note offers comes after what mends a trouble: its gain was measured on the reference network, not on the user's.
Gains are never added up. A gain whose interval does not clear the noise is shown as unproven, whatever the check hoped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpudoctor.model.finding import Finding, Fix, Gain, Grade, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import Breakdown

LEAST_LEFT = 0.02  # of a step; stamps resolve no less
NO_GAIN_BELOW = 1.02  # the probe's own noise bar: a gain counts when its whole 95 % interval lies above it
GRADES = {grade: place for place, grade in enumerate(Grade)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """A fix with the best finding that offers it: its place in the order of findings, and whether it is a note."""

    fix: Fix
    confidence: float
    place: int
    note: bool

    def rank(self, leading: _Offer | None) -> int:
        """Return 0 for what unblocks, 1 for what leads the speed-ups, 2 for these, 3 for what a note offers."""
        if self.note:
            return 3
        return 0 if self.fix.gain.grade is Grade.UNBLOCKS else 1 if self is leading else 2

    def order(self) -> tuple[bool, bool, float, int, int, float]:
        gain = self.fix.gain
        if gain.grade is Grade.UNBLOCKS:
            return (self.note, False, 0.0, 0, self.place, self.fix.effort_minutes)
        worth = saved_share(gain) * self.confidence
        return (self.note, True, -worth, GRADES[gain.grade], self.place, self.fix.effort_minutes)


def rank(findings: Iterable[Finding]) -> tuple[Fix, ...]:
    """Return the fixes of the findings that stand for themselves, best first, each once with all codes it addresses.

    What is to be done makes a fix: the same command, or one that does the other's work besides its own, is one whatever its id.
    """
    offers: dict[str, _Offer] = {}
    for place, finding in enumerate(findings):
        if finding.caused_by is not None:
            continue
        for fix in finding.fixes:
            graded = replace(fix, gain=proven(fix.gain))
            name = fix.id if fix.id in offers else _name_of_same(fix, offers)
            offers[name] = _offered(offers.get(name), graded, finding, place)
    leading = _leading(offers.values())
    return tuple(each.fix for each in sorted(offers.values(), key=lambda each: (each.rank(leading), each.order())))


def _leading(offers: Iterable[_Offer]) -> _Offer | None:
    """Return the first fix of the first trouble, where it has fixes and none of a known gain."""
    troubles = [each for each in offers if not each.note]
    first = min((each.place for each in troubles), default=0)
    own = [each for each in troubles if each.place == first]
    known = any(each.fix.gain.grade is Grade.UNBLOCKS or saved_share(each.fix.gain) for each in own)
    return None if known or first else min(own, key=_Offer.order, default=None)


def _offered(known: _Offer | None, fix: Fix, finding: Finding, place: int) -> _Offer:
    note = finding.severity is Severity.INFO
    if known is None:
        fix = replace(fix, addresses=tuple(dict.fromkeys((*fix.addresses, finding.code))))
        return _Offer(fix=fix, confidence=finding.confidence, place=place, note=note)
    codes = tuple(dict.fromkeys((*known.fix.addresses, finding.code)))
    return replace(
        known,
        fix=replace(_more_complete(known.fix, fix), addresses=codes),
        confidence=max(known.confidence, finding.confidence),
        note=known.note and note,
    )


def _name_of_same(fix: Fix, offers: Mapping[str, _Offer]) -> str:
    """Return under which id the same change is offered already; its own id where it is new."""
    same = (name for name, each in offers.items() if _same(each.fix, fix))
    return next(same, fix.id)


def _same(first: Fix, second: Fix) -> bool:
    if (first.action, first.text) == (second.action, second.text):
        return True
    if first.release is None or first.release != second.release:
        return False
    return _asked(first) in second.text or _asked(second) in first.text


def _asked(fix: Fix) -> str:
    """Return what pip is asked for."""
    return fix.text.partition("  #")[0].rpartition("pip install ")[2]


def _more_complete(known: Fix, other: Fix) -> Fix:
    """Return of two ways to one release the one that does more: pins a cuDNN, clears the place or makes an environment."""
    more = known.release is not None and known.release == other.release and _asked(known) in other.text
    return other if more and len(other.text) > len(known.text) else known


def together(shares: Breakdown) -> float | None:
    """Return the most that all fixes of a run can bring together: what waits, Python and tracing take may vanish, compute stays.

    Single gains are not multiplied: two fixes may take away the same time.
    """
    if isinstance(shares.compute, Missing) or isinstance(shares.input, Missing):
        return None
    return round(1 / max(LEAST_LEFT, shares.compute), 2)


def saved_share(gain: Gain) -> float:
    """Return the share of the time that a speed-up saves: 2.0 -> 0.5; none where nothing is proven."""
    return 0.0 if gain.speedup is None or gain.speedup <= 1 else 1 - 1 / gain.speedup


def proven(gain: Gain) -> Gain:
    """Return the gain, graded down to unproven where its interval does not clear the noise."""
    if gain.grade in {Grade.MEASURED, Grade.PROBE} and (gain.low is None or gain.low <= NO_GAIN_BELOW):
        return Gain(grade=Grade.UNPROVEN, basis=gain.basis or "no proven gain")
    return gain
