"""`gpudoctor sessions`: list the recordings of `gpudoctor run`."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from gpudoctor.cli.output import emit
from gpudoctor.cli.parser import Arguments
from gpudoctor.cli.run import SUFFIX
from gpudoctor.codec import dumps
from gpudoctor.errors import UsageError
from gpudoctor.model.missing import Missing
from gpudoctor.model.session import Session
from gpudoctor.profile.command import script_of
from gpudoctor.profile.record import default_folder, read_session


def run(arguments: Arguments) -> int:
    """Print one line a session, newest first."""
    found = sorted(_sessions(), key=lambda each: each.started_at, reverse=True)
    if arguments.json:
        emit(dumps([_members(each) for each in found]) + "\n", None)
    elif found:
        emit("".join(f"{_line(each)}\n" for each in found), None)
    else:
        emit("no sessions; make one with `gpudoctor run -- python train.py`\n", None)
    return 0


def _sessions() -> list[Session]:
    found: list[Session] = []
    for path in default_folder().glob(f"*{SUFFIX}"):
        with suppress(UsageError):  # another file, or a newer gpudoctor's
            found.append(read_session(path))
    return found


def path_of(name: str) -> Path:
    """Return the file of a session: a path, or the beginning of an id. Raises UsageError."""
    if Path(name).is_file():
        return Path(name)
    found = sorted(default_folder().glob(f"{name}*{SUFFIX}")) if name.isalnum() else []
    if len(found) == 1:
        return found[0]
    why = "no such session" if not found else f"{len(found)} sessions begin with it"
    raise UsageError(f"{name}: {why}; `gpudoctor sessions` lists them")


def _members(session: Session) -> dict[str, object]:
    members: dict[str, object] = {
        "session": session.session,
        "command": list(session.command),
        "started_at": session.started_at,
        "outcome": session.outcome,
        "trained": session.trained,
    }
    if not isinstance(session.exit_code, Missing):
        members["exit_code"] = session.exit_code
    return members


def _line(session: Session) -> str:
    started = datetime.fromtimestamp(session.started_at, tz=timezone.utc).astimezone()
    ended = session.outcome if isinstance(session.exit_code, Missing) else f"exit {session.exit_code}"
    return f"{session.session}  {started:%Y-%m-%d %H:%M}  {ended:<10}  {script_of(session.command)}"
