"""Run a command under a recording in which something of ours fails: `our_fault.py WHAT SESSION COMMAND...`."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gpudoctor.cli.recording import Recording
from gpudoctor.logs.reader import EventReader
from gpudoctor.model.observed import LogEvent
from gpudoctor.profile.record import SessionWriter


class Raising(EventReader):
    """A reader that does not bear what it reads."""

    def feed(self, block: str) -> Iterator[LogEvent]:
        raise RecursionError(f"a text of {len(block)} characters that no reader bears")


class Full(SessionWriter):
    """A session that cannot take in anything."""

    def tick(self, *, heartbeat: bool = True) -> list[tuple[str, Mapping[str, Any]]]:
        raise KeyError(f"a table that never was ({heartbeat})")


def refused() -> int:
    """Stand for a kernel that gives no process."""
    raise BlockingIOError(11, "Resource temporarily unavailable")


def no_thread(thread: threading.Thread) -> None:
    """Stand for a limit on processes that is reached."""
    raise RuntimeError(f"can't start new thread ({thread.name})")


def report(path: Path) -> None:
    """Report, or fail to."""
    if what == "report":
        raise RecursionError(f"a session that no report bears: {path}")


what, place, *command = sys.argv[1:]
if what == "fork":
    os.fork = refused
if what == "thread":
    threading.Thread.start = no_thread
writer = (Full if what == "writer" else SessionWriter)(Path(place))
writer.note(session="ours", command=command, started_at=1.0, outcome="running")
reader = Raising if what == "reader" else EventReader
sys.exit(Recording(writer, command, quiet=True, wanted=Path(place), reader=reader).run(report))
