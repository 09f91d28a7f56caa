"""A baseline: findings that somebody has accepted, so that only new ones count."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.record import dataclass

BASELINE_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """One accepted finding. `fingerprint`: what it says, without its figures; `note` is the reader's own."""

    code: str
    cause: str
    severity: Severity
    fingerprint: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """All accepted findings of one file."""

    accepted: tuple[Accepted, ...]
    baseline_version: int
