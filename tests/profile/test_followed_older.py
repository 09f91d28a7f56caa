"""A session file of an older gpudoctor, followed: what it has no column or table for is not recorded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gpudoctor.model.told import MessageRecord
from gpudoctor.profile.follow import Follower
from gpudoctor.profile.record import SessionWriter


def test_a_column_or_table_that_is_not_there_takes_nothing_else_away(tmp_path: Path) -> None:
    path = tmp_path / "s"
    writer = SessionWriter(path)
    writer.add("messages", process="stderr", number=1, at=5.0, kind="noise")
    writer.close(whole=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE messages DROP COLUMN at")
        database.execute("DROP TABLE losses")
        database.commit()

    session = Follower(path).read()

    assert (session.messages, session.losses) == ((MessageRecord(process="stderr", number=1, kind="noise"),), ())
