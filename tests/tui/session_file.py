"""A session of the model as a session file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import Session
from gpudoctor.profile.record import META, SessionWriter
from gpudoctor.profile.schema import TABLES


def write_session(path: Path, session: Session) -> Path:
    """Write it, as its wrapper would have left it."""
    writer = SessionWriter(path)
    told = {name: getattr(session, name) for name in META}
    writer.note(**{name: value for name, value in told.items() if not isinstance(value, Missing)})
    for name, table in TABLES.items():
        for row in getattr(session, name):
            members = {each.name: getattr(row, each.name) for each in fields(table.record)}
            writer.add(name, **{key: value for key, value in members.items() if not isinstance(value, Missing)})
    writer.tick(heartbeat=False)
    writer.close(whole=True)
    return path
