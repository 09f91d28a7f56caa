"""Xid codes: what a row holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge.row import Row

Category = Literal["app", "driver", "hardware", "hardware?", "warning", "info", "benign"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Xid(Row):
    """One code. `xid154_since`: the driver branch from which an Xid 154 tells the action as well."""

    code: int
    mnemonic: str
    description: str
    category: Category
    immediate_action: str | None
    investigatory_action: str | None
    advice: str
    applies_to: str
    xid154_since: str | None
    in_open_kernel_header: bool
    source: str
