"""The process that reads a session for the dashboard: a live one as it grows, a finished one at any moment of it.

Its cost follows the length of the run; so it takes no more than its share of a core, and the screen never waits for it.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, time

from gpudoctor.diagnose import registry
from gpudoctor.errors import GpudoctorError, UsageError
from gpudoctor.model.session import Session
from gpudoctor.profile.follow import Follower
from gpudoctor.profile.record import read_session
from gpudoctor.redaction import rewriter_of_this_machine
from gpudoctor.tui.moment import as_of, ended
from gpudoctor.tui.run_news import Recorded, RunNews
from gpudoctor.tui.run_story import Story
from gpudoctor.tui.sampling.wire import send

BEAT_S = 1.0  # the wrapper writes once a second
UNSEEN_BEAT_S = 5.0  # policy: while another view is looked at, only the findings are kept up to date
IDLE_SHARE = 50  # policy: between two reads it rests this many times as long as the last one took: 2 % of a core
COMMAND_BYTES = 4096
TOLD_UNCHANGED_S = 3.0  # a wrapper that writes nothing for so long is said to be silent
MOST_SECONDS = 1800  # readings for the machine view of a replay; a longer run is thinned


@dataclass(slots=True)
class Wishes:
    """What the screen asked for. `at_s`: the place in a finished session, None: not asked yet."""

    seen: bool = True
    at_s: float | None = None
    redraw: bool = False

    def take(self, line: str, story: Story) -> None:
        """Follow one command: `seen 0|1`, `window SECONDS COLUMNS`, `at SECONDS`, `jump SECONDS`."""
        name, *values = line.split()
        if name == "seen":
            self.seen, self.redraw = values[0] == "1", self.redraw or values[0] == "1"
        elif name == "window":
            story.span_s, story.count, self.redraw = int(values[0]), max(1, int(values[1])), True
        elif name in {"at", "jump"}:
            self.at_s, self.redraw = float(values[0]), True
            if name == "jump":
                story.jump()


class Closed(Exception):  # noqa: N818  # an event, not an error
    """Nobody listens any more."""


def _listen(wishes: Wishes, story: Story, wait_s: float) -> None:
    """Wait for commands, at most so long. Raises Closed at the end of standard input."""
    if not select.select([sys.stdin], [], [], max(0.0, wait_s))[0]:
        return
    words = os.read(sys.stdin.fileno(), COMMAND_BYTES).decode(errors="replace")
    if not words:
        raise Closed
    for line in words.splitlines():
        if line.strip():
            wishes.take(line, story)


def _tell(news: RunNews | Recorded) -> None:
    send(sys.stdout.fileno(), news)


def _follow(path: Path, story: Story, wishes: Wishes) -> Session:
    """Tell a live session until it is over; return it."""
    follower, due, heard = Follower(path), 0.0, monotonic()
    while True:
        now = monotonic()
        if now >= due or wishes.redraw:
            fresh = follower.changed()
            heard = now if fresh else heard
            if fresh or wishes.redraw or now - heard > TOLD_UNCHANGED_S:
                over = not follower.alive
                session = None if over else _read(follower)
                if over or (session is not None and session.outcome != "running"):
                    return read_session(path)
                if session is not None:
                    news = story.tell(session, at_s=time(), length_s=time() - session.started_at)
                    _tell(replace(news, silent_s=now - heard))
            wishes.redraw = False
            beat = BEAT_S if wishes.seen else UNSEEN_BEAT_S
            due = monotonic() + max(beat, IDLE_SHARE * (monotonic() - now))
        _listen(wishes, story, due - monotonic())


def _read(follower: Follower) -> Session | None:
    """Return the session, None where its file is not whole yet: it is made while we look."""
    try:
        return follower.read()
    except UsageError:
        if follower.alive:
            return None
        raise


def _play(session: Session, story: Story, wishes: Wishes, also: Callable[[RunNews], RunNews] | None = None) -> None:
    """Tell a finished session at the moments that the screen asks for, until it asks no more."""
    length = max(0.0, ended(session) - session.started_at)
    while True:
        place = length if wishes.at_s is None else min(wishes.at_s, length)
        wishes.redraw = False
        at_s = session.started_at + place
        news = story.tell(as_of(session, at_s), at_s=at_s, length_s=length)
        _tell(news if also is None else also(news))
        while not wishes.redraw:
            _listen(wishes, story, BEAT_S)


def recorded(session: Session) -> Recorded:
    """Return the machine beside the run, thinned to what a replay can show."""
    length = max(0.0, ended(session) - session.started_at)
    step = max(1.0, length / MOST_SECONDS)
    gpus = {(int((each.at - session.started_at) / step), each.gpu): each for each in session.gpu_samples}
    hosts = {int((each.at - session.started_at) / step): each for each in session.host_samples}
    status = session.nvml_status if isinstance(session.nvml_status, str) else "unknown"
    return Recorded(
        begun_s=session.started_at,
        length_s=length,
        nvml_status=status,
        gpus=tuple(gpus.values()),
        hosts=tuple(hosts.values()),
    )


def main(argv: Sequence[str]) -> int:
    """Read until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--session", type=Path)
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--watched", action="store_true")  # beside the live machine: nothing is played
    options = parser.parse_args(argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    known = registry.load()
    try:
        if options.demo:
            from gpudoctor.tui.demo_run import DemoMachine, demo_session  # noqa: PLC0415  # only a demo pays for it

            _play(demo_session(), Story(known, str), Wishes(at_s=0.0), DemoMachine(known).beside)
        else:
            story = Story(known, rewriter_of_this_machine(), options.session)
            _session(options.session, story, played=not options.watched)
    except GpudoctorError as error:
        _tell(RunNews(failure=str(error)))
        return 1
    except (Closed, OSError):
        pass
    return 0


def _session(path: Path, story: Story, *, played: bool) -> None:
    """Tell a session; one that was over before it was looked at is played from its start, or shown as it ended."""
    wishes = Wishes()
    if Follower(path).alive:
        _play(_follow(path, story, wishes), story, wishes)
        return
    session = read_session(path)
    if played:
        _tell(recorded(session))
        wishes.at_s = 0.0
    _play(session, story, wishes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
