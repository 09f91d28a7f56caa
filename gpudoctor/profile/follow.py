"""A session file read again and again while it is written: each read takes only what came since the last one.

`record.read_session` reads the whole; once a second over hours that would be the load that the dashboard warns of. The
file is opened for each read and let go: an open reader would keep the wrapper from closing the session as one file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpudoctor import codec
from gpudoctor.errors import UsageError
from gpudoctor.model.session import Session
from gpudoctor.profile import placing
from gpudoctor.profile.record import META, kept, members_of, spool_folder
from gpudoctor.profile.schema import SCHEMA_VERSION, TABLES
from gpudoctor.profile.spool import Spool

NOT_YET = "the session has no tables yet"


class Follower:
    """One session file and what was read of it."""

    def __init__(self, path: Path) -> None:
        self.path = placing.followed(path)
        self._rows: dict[str, list[Any]] = {name: [] for name in TABLES}
        self._last: dict[str, int] = {}
        self._stamp: tuple[object, ...] = ()

    @property
    def alive(self) -> bool:
        """Return whether the process that writes it lives."""
        return Spool(spool_folder(self.path)).owner_alive()

    def changed(self) -> bool:
        """Return whether the file was written since it was asked last; a look at two files, no read."""
        stamp = tuple(_stamp(self.path.with_name(self.path.name + tail)) for tail in ("", "-wal"))
        before, self._stamp = self._stamp, stamp
        return stamp != before

    def read(self) -> Session:
        """Return the session as it is now. Raises UsageError for what cannot be read."""
        try:
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
                database.row_factory = sqlite3.Row
                return self._session(database)
        except (sqlite3.Error, ValueError) as error:
            raise UsageError(f"{self.path}: cannot be read ({error})") from error

    def _session(self, database: sqlite3.Connection) -> Session:
        database.execute("BEGIN")  # one moment for all tables
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 or version > SCHEMA_VERSION:
            raise UsageError(f"{self.path}: {NOT_YET if version == 0 else 'written by a newer gpudoctor; upgrade'}")
        told = {key: kept(value) for key, value in database.execute("SELECT key, value FROM meta") if key in META}
        for name in TABLES:
            self._take(database, name)
        if told.get("outcome", "running") == "running" and not self.alive:
            told["outcome"] = "cut_short"
        bare = codec.typed({"schema_version": version, "session": self.path.stem, **told}, Session)
        return _with_rows(bare, self._rows)

    def _take(self, database: sqlite3.Connection, name: str) -> None:
        """Take the rows of a table: new ones where it only grows, all of them where rows are completed later."""
        table = TABLES[name]
        there = {row["name"] for row in database.execute(f"PRAGMA table_info({name})")}
        if not there:
            return  # recorded by an older gpudoctor, as where a column is not there
        columns = ", ".join(each for each in table.columns if each in there)
        order = ", ".join(table.key) or "rowid"
        since = 0 if table.key else self._last.get(name, 0)
        sql = f"SELECT rowid AS gpudoctor_row, {columns} FROM {name} WHERE rowid > ? ORDER BY {order}"  # noqa: S608  # names of ours
        rows = database.execute(sql, (since,)).fetchall()
        if rows:
            self._last[name] = max(each["gpudoctor_row"] for each in rows)
        fresh = codec.typed([_without_number(each) for each in rows], list[table.record])  # type: ignore[name-defined]
        if table.key:
            self._rows[name] = fresh
        else:
            self._rows[name] += fresh


def _without_number(row: sqlite3.Row) -> dict[str, Any]:
    members = members_of(row)
    del members["gpudoctor_row"]
    return members


def _with_rows(bare: Session, rows: Mapping[str, list[Any]]) -> Session:
    tables: dict[str, Any] = {name: tuple(each) for name, each in rows.items()}
    return replace(bare, **tables)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
