"""`gpudoctor sessions`: list the recordings of `gpudoctor run`, or delete some; one that still runs is never deleted."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import emit
from gpudoctor.codec import dumps
from gpudoctor.errors import UsageError
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.session import Session
from gpudoctor.present import figures
from gpudoctor.profile.command import script_of
from gpudoctor.profile.record import SUFFIX, default_folder, read_session
from gpudoctor.profile.signals import ended_by
from gpudoctor.profile.timeline import analyse

DAY_S = 86_400


def run(arguments: Arguments) -> int:
    """Print one line a session, newest first; or one for each that was deleted."""
    if arguments.files or arguments.older_than is not None:
        return _delete(arguments)
    found = sorted(_sessions(), key=lambda each: each.started_at, reverse=True)
    if arguments.json:
        emit(dumps([_members(each) for each in found]) + "\n", None)
    elif found:
        emit("".join(f"{_line(each)}\n" for each in found), None)
    else:
        emit("no sessions; make one with `gpudoctor run -- python train.py`\n", None)
    return 0


def _sessions() -> list[Session]:
    return [read for path in _files() if (read := _quietly(path)) is not None]


def _delete(arguments: Arguments) -> int:
    """Delete the named ones, and those that began longer ago than so many days. Raises UsageError before any is gone."""
    chosen = {path: read_session(path) for path in map(path_of, arguments.files)}
    if arguments.older_than is not None:
        limit = time.time() - arguments.older_than * DAY_S
        old = {path: read for path in _files() if (read := _quietly(path)) is not None and read.started_at < limit}
        chosen.update({path: read for path, read in old.items() if read.outcome != "running"})
    for session in chosen.values():
        if session.outcome == "running":
            raise UsageError(f"{session.session}: still being recorded; it can be deleted when its command has ended")
    for path, session in chosen.items():
        try:
            path.unlink()
        except OSError as error:
            raise UsageError(f"{path}: cannot be deleted ({error.strerror or error})") from error
        emit(f"deleted {session.session}\n", None)
    if not chosen:
        emit("nothing to delete\n", None)
    return 0


def newest() -> Path:
    """Return the file of the newest session. Raises UsageError where there is none."""
    found = [(read.started_at, path) for path in _files() if (read := _quietly(path)) is not None]
    if not found:
        raise UsageError("no sessions; make one with `gpudoctor run -- python train.py`")
    return max(found)[1]


def _files() -> list[Path]:
    return list(default_folder().glob(f"*{SUFFIX}"))


def _quietly(path: Path) -> Session | None:
    with suppress(UsageError):  # another file, or a newer gpudoctor's
        return read_session(path)
    return None


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
    if signal := ended_by(session):
        members["signal"] = signal
    if not isinstance(step := _step_s(session), Missing):
        members["step_s"] = step
    return members


def _step_s(session: Session) -> Maybe[float]:
    """Return how long a steady step took: what two runs of one script differ by, where they are looked up."""
    times = analyse(session).steps if session.trained else None
    return Missing("no step was seen") if times is None else times.step_s


def _line(session: Session) -> str:
    started = datetime.fromtimestamp(session.started_at, tz=timezone.utc).astimezone()
    ended = (
        session.outcome if isinstance(session.exit_code, Missing) else ended_by(session) or f"exit {session.exit_code}"
    )
    step = _step_s(session)
    took = "-" if isinstance(step, Missing) else f"{figures.duration(step)}/step"
    return f"{session.session}  {started:%Y-%m-%d %H:%M}  {ended:<10}  {took:>12}  {script_of(session.command)}"
