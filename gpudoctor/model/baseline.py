"""A baseline: findings that somebody has accepted, so that only new ones count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.finding import Severity
from gpudoctor.model.record import dataclass

BASELINE_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """One accepted finding. `fingerprint`: what it says, without the figures that vary; `note` is the reader's own.

    `counts`: how much of it is accepted, by evidence; a higher number is graver, so what is left stands below zero.
    """

    code: str
    cause: str
    severity: Severity
    fingerprint: str
    note: str = ""
    counts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """All accepted findings of one file."""

    accepted: tuple[Accepted, ...]
    baseline_version: int
