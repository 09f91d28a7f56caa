"""Xid error codes of the kernel log: what each says, and whether application, driver or hardware is to blame.

`advice` is this project's; `immediate_action` and `investigatory_action` are NVIDIA's own classes, explained in
BUCKETS. Where the log also holds an Xid 154, its text outranks this table. Facts of 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpudoctor.knowledge.row import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    XIDS: tuple[Xid, ...]
    BUCKETS: Mapping[str, str]

Category = Literal["app", "driver", "hardware", "hardware?", "warning", "info", "benign"]

# Examples on the NVIDIA Xid pages. Groups: PCI address, code, pid, process name, text.
LINE_PATTERN = r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d+)(?:, pid=([^,]*))?(?:, name=([^,]*))?,?\s*(.*)"
LINE_PLACES = "kernel log: dmesg, journalctl -k, /var/log/messages, /var/log/kern.log; in containers usually unreadable"
LINE_SOURCE = "examples on the NVIDIA Xid pages"
CATALOG_SCOPE = "The catalog covers Ampere and newer; Volta and older have an archived page."


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


def xid(code: int) -> Xid | None:
    """Return what is known of the code, or None."""
    return next((each for each in _rows() if each.code == code), None)


def _rows() -> tuple[Xid, ...]:
    from gpudoctor.knowledge.xids_data import XIDS as rows  # noqa: N811, PLC0415  # paid for by those who ask

    return rows


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in {"XIDS", "BUCKETS"}:
            raise AttributeError(name)
        from gpudoctor.knowledge import xids_data  # noqa: PLC0415

        return getattr(xids_data, name)
