"""Driver branches: what a row holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from gpudoctor.knowledge.row import Row

BranchType = Literal["LTS", "PB", "NFB", "developer"]


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
