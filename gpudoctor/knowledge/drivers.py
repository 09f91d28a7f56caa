"""NVIDIA driver branches R390 to R620: which branch a number belongs to, until when it is kept, which GPUs it serves.

WSL reports the number of the Windows driver (573.76 is R570): ask with `windows=True` there. Taking the first field as
the branch would be tempting and makes R573 of it. Facts of 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Literal

from gpudoctor.knowledge import versions
from gpudoctor.knowledge.row import Row

if TYPE_CHECKING:
    BRANCHES: tuple[Branch, ...]

BranchType = Literal["LTS", "PB", "NFB", "developer"]

FACTS_DATE = date(2026, 11, 30)
# R580 (LTS) runs all that TensorFlow ships (CUDA 12.5 wheels) on every GPU from Maxwell to Blackwell: the table of
# branches with the architecture matrix of NVIDIA's data-centre driver documentation.
_RECOMMENDED = "580"
_RECOMMENDED_FROM = 50  # Maxwell
_NEWER_PRODUCTION = "595"  # for Turing and newer
_TURING = 75
_FIRST_WITH_BLACKWELL = "570"  # note of that branch
_BLACKWELL = 100
# architecture matrix: the last branch that drives these compute capabilities, by the first field
_LAST_BRANCH = {2: "390", 3: "470", 5: "580", 6: "580"}
_LAST_FOR_VOLTA = "580"
KERNEL_MODULES = (
    "Proprietary modules are required for Maxwell, Pascal, Volta; open modules are required for Grace Hopper and "
    "Blackwell data-centre parts and supported from Turing on."
)
KERNEL_MODULES_SOURCE = "NVIDIA/open-gpu-kernel-modules README and NixOS wiki text; NVIDIA developer forum schedule"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Branch(Row):
    """One branch. `number` is "580"; LTS: long-term support, PB: production, NFB: new feature.

    `eol` of a new-feature branch is a rule of thumb: NVIDIA gives it no date. `windows` holds the first and last Windows
    major of the branch; boundaries between branches are inferred.
    """

    number: str
    type: BranchType
    first_release: date | None
    eol: date | None
    eol_nvidia: str
    latest_linux: str | None
    latest_windows: str | None
    windows: tuple[int, int] | None
    cuda_reported: str | None
    last_for: str
    architectures_dropped: str
    state: str
    note: str
    source: str

    def __str__(self) -> str:
        return f"R{self.number}"


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


def newer_branch(cc: str | int) -> Branch | None:
    """Return the production branch that is newer than the recommended one, for a GPU that it serves."""
    return _branches()[_NEWER_PRODUCTION] if versions.capability(cc) >= _TURING else None


def first_branch_for(cc: str | int) -> Branch | None:
    """Return the first branch that knows this GPU; None where no fact says."""
    return _branches()[_FIRST_WITH_BLACKWELL] if versions.capability(cc) >= _BLACKWELL else None


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
