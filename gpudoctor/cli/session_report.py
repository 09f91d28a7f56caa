"""A session as text, JSON or Markdown. Until its analysis is asked for: what was recorded, in a few lines."""

from __future__ import annotations

from pathlib import Path

from gpudoctor.cli.output import emit
from gpudoctor.codec import dumps, to_builtins
from gpudoctor.model.missing import Missing
from gpudoctor.model.session import Session
from gpudoctor.profile.command import script_of
from gpudoctor.profile.outcome import remarks
from gpudoctor.profile.record import read_session

WIDTH = 80
MINUTE = 60


def rendered(path: Path, form: str) -> str:
    """Return the report of a session file."""
    session = read_session(path)
    if form == "json":
        missing: dict[str, str] = {}
        document = to_builtins(session, missing)
        return dumps({"schema_version": session.schema_version, "session": document, "missing": missing}) + "\n"
    lines = _lines(session)
    if form == "markdown":
        return "\n".join(["# gpudoctor run", "", *(f"- {line}" for line in lines)]) + "\n"
    return "\n".join([" gpudoctor report".rjust(WIDTH, "-"), *lines]) + "\n"


def write(path: Path, form: str, output: str | None) -> None:
    """Write the report of a session file where it is wanted. Raises OutputError."""
    emit(rendered(path, form), output)


def _lines(session: Session) -> list[str]:
    ended = "?" if isinstance(session.exit_code, Missing) else str(session.exit_code)
    end = session.heartbeat_at if isinstance(session.ended_at, Missing) else session.ended_at
    seconds = max(0, round(end - session.started_at))
    lines = [f"{script_of(session.command)} ended {ended} after {seconds // MINUTE}:{seconds % MINUTE:02d}"]
    lines += remarks(session)
    counts = {(each.process, each.loop): each for each in session.steps}
    for loop in session.loops:
        last = counts.get((loop.process, loop.loop))
        if last is not None and loop.replica == 0:
            wait = "" if isinstance(last.wait_s, Missing) or loop.overlaps else f", {last.wait_s:.1f} s input wait"
            lines.append(f"{loop.label} {Path(loop.file).name}:{loop.line}  {last.count} steps{wait}")
    lines.append(f"Session {session.session} | gpudoctor report {session.session}")
    return lines
