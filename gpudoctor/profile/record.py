"""The session file: written by the wrapper alone, once a second, and read back as `model.session.Session`.

The agent could write SQLite itself; a lock held in the user's process, a copied connection after fork and 10 ms of import
would be the price. It appends lines to a spool beside the file instead: what it wrote survives the death of either process,
the wrapper's copy and its place in the spool are one transaction, and whoever opens the file next takes in the rest.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

from gpudoctor import codec
from gpudoctor.errors import UsageError
from gpudoctor.model.session import Session
from gpudoctor.profile import placing
from gpudoctor.profile.schema import SCHEMA_VERSION, TABLES, statements
from gpudoctor.profile.spool import Spool

BUSY_TIMEOUT_MS = 2000  # a report read beside a running recording holds no lock longer than its queries take
SUFFIX = ".session"  # of the files in the folder where all lie
META = frozenset(
    {"session", "tool_version", "command", "folder", "started_at", "heartbeat_at", "ended_at", "exit_code", "outcome"}
    | {"nvml_status", "chosen_by"}
)


class SessionWriter:
    """The one writer of a session file. `tick` makes everything so far durable."""

    def __init__(self, path: Path, *, fresh: bool = True) -> None:
        """Make the file (`fresh`), or open one that is to be completed. Raises OSError or sqlite3.Error."""
        self.path = path
        if fresh:
            path.touch(mode=0o600, exist_ok=False)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self.spool = Spool(spool_folder(path))
        if fresh:
            self.spool.folder.mkdir(mode=0o700, exist_ok=True)
            self.spool.claim()
            self._create()

    def _create(self) -> None:
        self._db.execute("BEGIN")
        for statement in statements():
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self._db.execute("COMMIT")

    def note(self, **values: object) -> None:
        """Set fields of the session itself."""
        rows = [(name, _column(value)) for name, value in values.items()]
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def add(self, table: str, **values: object) -> None:
        """Add a row, or complete the row with the same key."""
        self._put(table, values)

    def tick(self, *, heartbeat: bool = True) -> list[tuple[str, Mapping[str, Any]]]:
        """Take in what the agents have spooled since, and return it; one transaction with the heartbeat."""
        taken: list[tuple[str, Mapping[str, Any]]] = []
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for file, start in self._unread():
                lines, end = self.spool.read(file, start)
                for table, values in lines:
                    self._put(table, values)
                    taken.append((table, values))
                if end != start:
                    self._db.execute("INSERT OR REPLACE INTO spools VALUES (?, ?)", (file, end))
            if heartbeat:
                self.note(heartbeat_at=time.time())
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        for process, window, trace in self.spool.traces():
            self.keep_trace(process, window, trace.read_bytes())
            trace.unlink()
        return taken

    def _unread(self) -> Iterator[tuple[str, int]]:
        known: dict[str, int] = dict(self._db.execute("SELECT file, offset FROM spools").fetchall())
        for file in self.spool.files():
            yield file, known.get(file, 0)
        self.spool.drop_finished(known)

    def _put(self, table: str, values: Mapping[str, Any]) -> None:
        shape = TABLES.get(table)
        if shape is None:
            return
        columns = [name for name in shape.columns if values.get(name) is not None]
        if not all(name in columns for name in shape.key):
            return
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608  # names of ours
        changing = [name for name in columns if name not in shape.key]
        if shape.key:
            update = ", ".join(f"{name} = excluded.{name}" for name in changing)
            sql += f" ON CONFLICT ({', '.join(shape.key)}) DO " + (f"UPDATE SET {update}" if update else "NOTHING")
        with suppress(OverflowError):  # a number beyond 64 bits, of whoever else writes there: a row, not the recording
            self._db.execute(sql, [_column(values[name]) for name in columns])

    def keep_trace(self, process: str, window: int, data: bytes) -> None:
        """Keep a profiler window's trace, compressed."""
        row = (process, window, gzip.compress(data, 6))
        self._db.execute("INSERT OR REPLACE INTO traces_of_windows VALUES (?, ?, ?)", row)

    def copied(self, path: Path) -> SessionWriter:
        """Return the writer of a copy with all that is in this one, also where this one's file is gone or its disk is full."""
        path.touch(mode=0o600, exist_ok=False)
        with closing(sqlite3.connect(path)) as database:
            self._db.backup(database)
        return SessionWriter(path, fresh=False)

    def close(self, *, whole: bool = True) -> None:
        """Close; `whole`: leave one file that can be copied, and no spool."""
        if whole:
            with suppress(sqlite3.Error):
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._db.execute("PRAGMA journal_mode = DELETE")
            self.spool.remove()
        self._db.close()


def spool_folder(path: Path) -> Path:
    """Return the folder beside a session file in which agents spool."""
    return path.with_name(path.name + ".live")


def read_session(path: Path) -> Session:
    """Return the recording; first take in what a killed wrapper left in the spool.

    Raises UsageError, naming the cure, for what is not a session, or is a newer gpudoctor's.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such session; `gpudoctor sessions` lists them")
    wanted, path = path, placing.followed(path)
    _recover(path)
    if path != wanted and not spool_folder(path).exists():  # its wrapper was killed before it could move it
        path = placing.move(path, wanted)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            return _session(database, path)
    except (sqlite3.Error, ValueError) as error:
        raise UsageError(f"{path}: not a session that this gpudoctor can read ({error})") from error


def read_trace(path: Path, process: str, window: int) -> bytes | None:
    """Return a profiler window's XSpace, uncompressed; None where there is none."""
    path = placing.followed(path)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        sql = "SELECT data FROM traces_of_windows WHERE process = ? AND window = ?"
        row = database.execute(sql, (process, window)).fetchone()
    return gzip.decompress(cast("bytes", row[0])) if row else None


def _recover(path: Path) -> None:
    """Complete a session whose wrapper is gone."""
    if not spool_folder(path).is_dir():
        return
    with suppress(sqlite3.Error, OSError):  # a folder that cannot be written to: what is in the file is shown
        writer = SessionWriter(path, fresh=False)
        if not writer.spool.owner_alive():
            writer.tick(heartbeat=False)
            if not writer.spool.agents_alive():
                writer.close(whole=True)
                return
        writer.close(whole=False)


def _session(database: sqlite3.Connection, path: Path) -> Session:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise UsageError(f"{path}: written by a newer gpudoctor (schema {version}); upgrade gpudoctor")
    if version == 0:
        raise UsageError(f"{path}: not a session file; make one with `gpudoctor run --session FILE -- python train.py`")
    members: dict[str, Any] = {"schema_version": version, "session": path.name}  # killed before it had a name
    for key, value in database.execute("SELECT key, value FROM meta"):
        if key in META:
            members[key] = kept(value)
    for name, table in TABLES.items():
        there = {
            row["name"] for row in database.execute(f"PRAGMA table_info({name})")
        }  # an older gpudoctor's may lack some
        columns = [each for each in table.columns if each in there]
        if not columns:
            continue
        order = ", ".join(table.key) or "rowid"
        rows = database.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY {order}")  # noqa: S608  # names of ours
        members[name] = [members_of(each) for each in rows]
    alive = Spool(spool_folder(path)).owner_alive()
    if members.get("outcome", "running") == "running" and not alive:
        members["outcome"] = "cut_short"
    return codec.typed(members, Session)


def members_of(row: sqlite3.Row) -> dict[str, Any]:
    """Return the columns that are known; the rest takes the record's default."""
    return {name: kept(row[name]) for name in row.keys() if row[name] is not None}  # noqa: SIM118  # a Row iterates values


def _column(value: object) -> object:
    """Return what SQLite keeps: numbers and text as they are, anything composed as JSON behind a nul."""
    if value is None or (isinstance(value, (int, float, str)) and not isinstance(value, bool)):
        return value
    return f"\0{codec.compact(value)}".encode()


def kept(value: Any) -> Any:
    """Return what `_column` gave to SQLite."""
    if isinstance(value, bytes):
        return codec.loads(value[1:])
    return value


def default_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where sessions go unless `--session` names a file: the user's state folder (XDG base directories)."""
    state = environ.get("XDG_STATE_HOME") or ""
    base = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()  # noqa: PTH117
    return base / "gpudoctor" / "sessions"
