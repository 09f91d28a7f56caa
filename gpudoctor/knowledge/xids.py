"""Xid error codes of the kernel log: what each says, and whether application, driver or hardware is to blame.

`advice` is this project's; `immediate_action` and `investigatory_action` are NVIDIA's own classes, explained in
BUCKETS. Where the log also holds an Xid 154, its text outranks this table. Facts of 2026-11-30.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpudoctor.knowledge.rows import xids as rows_of

    Xid = rows_of.Xid
    XIDS: tuple[Xid, ...]
    BUCKETS: Mapping[str, str]


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
