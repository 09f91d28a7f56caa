"""NVIDIA driver branches R390 to R620: which branch a number belongs to, until when it is kept, which GPUs it serves.

WSL reports the number of the Windows driver (573.76 is R570): ask with `windows=True` there. Taking the first field as
the branch would be tempting and makes R573 of it. Facts of 2026-11-30.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from gpudoctor.knowledge import versions

if TYPE_CHECKING:
    from gpudoctor.knowledge.rows import drivers as rows_of

    Branch = rows_of.Branch
    BRANCHES: tuple[Branch, ...]


FACTS_DATE = date(2026, 11, 30)
# R580 (LTS) runs all that TensorFlow ships (CUDA 12.5 wheels) on every GPU from Maxwell to Blackwell: the table of
# branches with the architecture matrix of NVIDIA's data-centre driver documentation.
_RECOMMENDED = "580"
_RECOMMENDED_FROM = 50  # Maxwell
_TURING = 75
# architecture matrix: the last branch that drives these compute capabilities, by the first field
_LAST_BRANCH = {2: "390", 3: "470", 5: "580", 6: "580"}
_LAST_FOR_VOLTA = "580"


def branch_of(driver_version: str, *, windows: bool = False) -> Branch | None:
    """Return the branch of a driver number (Linux, or with `windows` as Windows and WSL give it), or None."""
    fields = versions.parse(driver_version)
    if not fields:
        return None
    if not windows:
        return branch(str(fields[0]))
    return next((each for each in _branches().values() if _holds(each.windows, fields[0])), None)


def branch(number: str) -> Branch | None:
    """Return the branch of that number ("580"), or None."""
    return _branches().get(number)


def newest() -> str:
    """Return the number of the newest branch of the table."""
    return max(_branches(), key=int)


def end_of_life(branch: Branch, today: date) -> date | None:
    """Return the day since which the branch is no longer kept, or None while it is, or while that is not known.

    Where it is known to have ended but not when, the date of the facts is returned: it ended by then.
    """
    ended = branch.eol or (FACTS_DATE if branch.state == "end of life" else None)
    return ended if ended is not None and ended <= today else None


def recommended_branch(cc: str | int | None = None) -> Branch:
    """Return the long-term branch that serves this GPU today; for Fermi and Kepler the last one that does."""
    capability = None if cc is None else versions.capability(cc)
    if capability is not None and capability < _RECOMMENDED_FROM:
        return last_branch_for(capability) or _branches()[_RECOMMENDED]
    return _branches()[_RECOMMENDED]


def last_branch_for(cc: str | int) -> Branch | None:
    """Return the last branch that drives this GPU; None while support goes on."""
    capability = versions.capability(cc)
    number = _LAST_BRANCH.get(capability // 10)
    if number is None and capability // 10 == 7 and capability < _TURING:
        number = _LAST_FOR_VOLTA
    return None if number is None else _branches()[number]


def _holds(span: tuple[int, int] | None, major: int) -> bool:
    return span is not None and span[0] <= major <= span[1]


@cache
def _branches() -> dict[str, Branch]:
    from gpudoctor.knowledge.drivers_data import BRANCHES as rows  # noqa: N811, PLC0415  # on first use

    return {each.number: each for each in rows}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name != "BRANCHES":
            raise AttributeError(name)
        return tuple(_branches().values())
