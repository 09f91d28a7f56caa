"""What a check says: findings with evidence, and fixes with a graded gain."""

from __future__ import annotations

from enum import Enum

from gpudoctor.model.missing import NOT_COLLECTED, Maybe
from gpudoctor.model.record import dataclass
from gpudoctor.model.words import Action, Risk


class Severity(str, Enum):
    """error: training is broken or unusable; warning: it costs much; info: good to know."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Grade(str, Enum):
    """How well a gain is known, best first; `unblocks`: nothing works before it."""

    UNBLOCKS = "unblocks"
    MEASURED = "measured"
    ESTIMATE = "estimate"
    BOUND = "bound"
    PROBE = "probe"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a fix brings: a speed-up (1.8 = 1.8 times faster) with its interval, and on what it rests."""

    grade: Grade
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    basis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The most memory that training is predicted to need after a change: bounds, each known or missing, and their basis.

    `bound`: arithmetic alone, on what a text told or a way saves at best; nothing like it was measured.
    """

    low_bytes: Maybe[int] = NOT_COLLECTED
    high_bytes: Maybe[int] = NOT_COLLECTED
    basis: str = ""
    bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One change: a command, a diff, a setting, or something to do by hand (manual). `text` is copyable.

    `addresses` (codes) is filled in by the engine. `peak`: for a change that is to save memory, else None. `release`: the
    release of TensorFlow's official wheel that it installs, else None.
    """

    id: str
    title: str
    action: Action
    text: str
    gain: Gain
    risk: Risk = "low"
    effort_minutes: float = 5.0
    addresses: tuple[str, ...] = ()
    peak: Peak | None = None
    release: str | None = None


TO_KNOW = "run this to know"  # the label of evidence that is a command: what decides among several causes
NEXT_STEP = "next step"  # the source of evidence that is for the reader to act on
NOISE = "harmless-line"  # the cause of a line that is no trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One fact behind a finding: label, value, unit and where it comes from."""

    label: str
    value: str | float | int | bool
    unit: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in the user's code."""

    file: str
    line: int
    end_line: int | None = None
    snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One trouble found. `confidence` 0-1 with its `basis`. The engine fills code, slug, cause, caused_by.

    A check leaves `cause` empty when it has one cause only. `subject` names the one device that it
    is about ("GPU 0"): what is wrong with one GPU does not explain what is wrong with another.
    `share`: of the run's or step's time that it costs, 0 where that was not measured.
    `accepted`: a baseline knows it, so it does not count for the exit code.
    """

    summary: str
    severity: Severity
    confidence: float
    basis: str
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    location: Location | None = None
    cause: str = ""
    subject: str = ""
    code: str = ""
    slug: str = ""
    title: str = ""
    caused_by: str | None = None
    accepted: bool = False
    share: float = 0.0
