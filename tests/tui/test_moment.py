"""A session as it was at a moment: no table tells of the future, also none that is yet to be made."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import LoopRecord, Session
from gpudoctor.profile.schema import TABLES, Table
from gpudoctor.tui.moment import as_of

# of each: the field that says when a row came to be
TIMES = ("at", "started_at", "made_at")
# one row each, polled again and again, that replaces itself: known with its iterator; and the time that samples are set against
SUMS = {"pipeline_nodes", "bursts"}
NUMBERS = {"loop", "phase", "iterator", "node", "number", "loss", "window", "gpu", "count"}
TEXTS = {"process", "kind", "name", "subject", "device", "method", "file"}


def time_of(table: Table) -> str:
    """Return the name of the field that says when a row came to be, '' for none."""
    return next((name for name in TIMES if name in {each.name for each in fields(table.record)}), "")


def row(table: Table, at: float) -> object:
    """Return a row of that time."""
    needed = {each.name for each in fields(table.record)}
    told = {**dict.fromkeys(NUMBERS & needed, 0), **dict.fromkeys(TEXTS & needed, "x"), time_of(table): at}
    return table.record(**told)


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if time_of(table) and name not in SUMS])
def test_a_table_holds_nothing_of_later(name: str) -> None:
    rows = tuple(row(TABLES[name], at) for at in (10.0, 90.0))
    session = Session(schema_version=1, session="x", started_at=0.0, ended_at=100.0, heartbeat_at=100.0)
    later: dict[str, Any] = {name: rows}
    whole = replace(session, **later)

    assert getattr(as_of(whole, 50.0), name) == rows[:1]
    assert getattr(as_of(whole, 100.0), name) == rows


def test_the_end_is_not_known_before_it() -> None:
    session = Session(
        schema_version=1,
        session="x",
        ended_at=100.0,
        exit_code=1,
        outcome="ended",
        loops=(LoopRecord(process="x", loop=0, made_at=60.0),),
    )
    cut = as_of(session, 50.0)
    assert (cut.outcome, cut.loops) == ("running", ())
    assert isinstance(cut.exit_code, Missing)
