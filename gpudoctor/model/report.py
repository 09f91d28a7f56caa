"""The report: verdicts of all checks, findings in order of importance, ranked fixes, and the snapshot behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.record import dataclass
from gpudoctor.model.snapshot import SCHEMA_VERSION, Snapshot
from gpudoctor.model.words import FailOn, ReportLevel

# What `target["chosen_by"]` says of a text: judged by itself, or with the facts of this machine.
TEXT_ALONE = "the text and what was stated"
TEXT_OF_ANOTHER = "the text alone; taken as not from this machine"
TEXT_OF_THIS = "the text and this machine"
SAVED = "snapshot "  # and where it is saved


class Outcome(str, Enum):
    """found | passed | skipped (evidence absent) | inconclusive (evidence not enough) | crashed (the check's own fault)."""

    FOUND = "found"
    PASSED = "passed"
    SKIPPED = "skipped"
    INCONCLUSIVE = "inconclusive"
    CRASHED = "crashed"


class Status(str, Enum):
    """The machine as a whole; `healthy` needs the coverage that the level promises."""

    HEALTHY = "healthy"
    WARNING = "warning"
    BROKEN = "broken"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one check concluded. `trials`: the probe trials that it weighed. `moved`: thresholds that were configured.

    `applies`: False where what it looks for cannot be here; it has passed then, and judged nothing.
    """

    code: str
    slug: str
    title: str
    family: str
    causes: tuple[str, ...]
    status: Outcome
    reason: str = ""
    trials: tuple[str, ...] = ()
    duration_s: float = 0.0
    core: bool = True
    applies: bool = True
    moved: Mapping[str, float] = field(default_factory=dict[str, float])
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many of the selected checks judged; `not_applicable` of them had nothing here to judge and are not among `ran`."""

    ran: int
    total: int
    not_applicable: int = 0

    @property
    def applicable(self) -> int:
        """Return how many had something to judge here."""
        return self.total - self.not_applicable


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The answer in one line. `expectation`: '' or why --expect-gpus / --strict is not met.

    `primary`: the code of the finding to mend first; None where nothing is wrong, for a note is never the primary one.
    """

    status: Status
    headline: str
    counts: Mapping[str, int]
    coverage: Coverage
    expectation: str = ""
    primary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A source of checks: loaded, or broken with the reason."""

    name: str
    module: str
    checks: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole answer; `present/` turns it into text, JSON and others. `fail_on`: the lowest severity that counts."""

    summary: Summary
    snapshot: Snapshot
    level: ReportLevel = "standard"
    tool: Mapping[str, str] = field(default_factory=dict[str, str])
    started_at: str = ""
    duration_s: float = 0.0
    target: Mapping[str, str] = field(default_factory=dict[str, str])
    checks: tuple[Verdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    fixes: tuple[Fix, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    not_judged: tuple[str, ...] = ()
    fail_on: FailOn = "error"
    schema_version: int = SCHEMA_VERSION
