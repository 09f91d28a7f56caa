"""Real sessions beside the dashboard: found, followed while they are written, ended, replayed; commands started and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.cli import session_report
from gpudoctor.model.report import Report
from gpudoctor.present import figures
from gpudoctor.profile.follow import Follower
from gpudoctor.profile.record import read_session
from gpudoctor.profile.running import live_sessions
from gpudoctor.tui.messages import Reading
from gpudoctor.tui.run_link import RunLink
from gpudoctor.tui.run_news import Recorded, RunNews
from gpudoctor.tui.sources import Still
from gpudoctor.tui.started_run import StartedRun
from gpudoctor.tui.views.lines import text_of
from gpudoctor.tui.views.run_parts import finding_lines
from gpudoctor.tui.watch import Watch
from tests.benchmarks.a_run import RunWriter
from tests.profile.timelines import FOLDER, recorded
from tests.tui.session_file import write_session
from tests.tui.stage import Stage, reading, stage

PATIENCE_S = 60.0


def hear(link: RunLink, wanted: Callable[[RunNews], bool]) -> RunNews:
    """Return the first news that is wanted."""
    limit = time.monotonic() + PATIENCE_S
    last: RunNews | None = None
    while time.monotonic() < limit and link.fd is not None:
        select.select([link.fd], [], [], 0.2)
        for news in link.take():
            if isinstance(news, RunNews):
                last = news
                if wanted(news):
                    return news
    told = "" if last is None else f"{last.place_s} of {last.length_s} s, {last.failure!r}"
    pytest.fail(f"no such news; trouble {link.trouble!r}, last {told}")


def anything(_: RunNews) -> bool:
    """Want whatever comes first."""
    return True


def codes(report: Report | None) -> list[str]:
    """Return the codes of the findings."""
    return [] if report is None else [each.code for each in report.findings]


def test_a_run_is_followed_while_it_is_written_and_to_its_end(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    assert live_sessions(tmp_path) == [writer.path]
    link = RunLink("--session", str(writer.path))
    try:
        link.tell("seen", 1)
        link.tell("window", 60, 60)
        for _ in range(6):
            time.sleep(1.0)
            writer.second()
        seen = hear(link, lambda news: news.steps > 40 and news.report is not None)
        assert len(seen.columns) == 60
        paces = [each.steps_per_s for each in seen.columns if each is not None]
        assert min(paces) > 10
        writer.end(exit_code=3)
        over = hear(
            link,
            lambda news: (
                news.report is not None
                and news.report.snapshot.run is not None
                and news.report.snapshot.run.outcome == "ended"
            ),
        )
        assert over.report is not None
        assert over.report.snapshot.run is not None
        assert over.report.snapshot.run.exit_code == 3
        assert codes(over.report) == codes(session_report.report(writer.path))
        assert live_sessions(tmp_path) == []
    finally:
        link.close()


def test_each_read_takes_what_is_new_and_adds_up_to_the_whole(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    follower = Follower(writer.path)
    assert follower.changed()
    assert not follower.changed()
    for _ in range(3):
        writer.second()
        assert follower.changed()
        assert follower.read().steps == read_session(writer.path).steps
    whole = read_session(writer.path)
    assert follower.read() == whole
    writer.close()


def test_a_finished_session_is_told_at_any_moment_and_at_its_end_as_the_report_does(tmp_path: Path) -> None:
    path = write_session(tmp_path / "r.session", recorded("numpy-function"))
    link = RunLink("--session", str(path))
    try:
        first = hear(link, anything)
        assert first.place_s == 0.0
        assert codes(first.report) == []
        link.tell("jump", 1e9)
        last = hear(link, lambda news: news.place_s > 0)
        assert last.place_s == last.length_s
        assert codes(last.report) == codes(session_report.report(path))
        link.tell("jump", 2.0)
        assert hear(link, lambda news: news.place_s < 3).steps < last.steps
    finally:
        link.close()


@pytest.mark.parametrize("name", sorted(each.stem for each in FOLDER.glob("*.json")))
def test_text_json_and_screen_tell_of_a_run_the_same_findings_order_and_gains(name: str, tmp_path: Path) -> None:
    path = write_session(tmp_path / "r.session", recorded(name))
    words = [sys.executable, "-m", "gpudoctor", "report", str(path)]
    document = json.loads(subprocess.run([*words, "--json"], capture_output=True, text=True, check=False).stdout)
    text = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    link = RunLink("--session", str(path))
    try:
        link.tell("jump", 1e9)
        news = hear(link, lambda news: news.place_s == news.length_s)
    finally:
        link.close()
    report = news.report
    assert report is not None
    assert [(each.code, each.summary, each.caused_by) for each in report.findings] == [
        (each["code"], each["summary"], each.get("caused_by")) for each in document["findings"]
    ]
    assert [each.id for each in report.fixes] == [each["id"] for each in document["fixes"]]
    watch = Watch()
    watch.run.news = news
    shown = [text_of(line) for line in finding_lines(watch.run, 300, 100)]
    assert [each.code for each in report.findings] == [
        word for line in shown for word in line.split() if word in codes(report)
    ][: len(report.findings)]
    for number, fix in enumerate(report.fixes):
        line = shown[len(report.findings) + number]
        assert fix.title in line
        assert figures.gain(fix.gain) in line
        if number == 0:
            assert fix.title[:30] in text


def test_a_file_that_is_no_session_is_said(tmp_path: Path) -> None:
    path = tmp_path / "wrong.session"
    path.write_text("nothing", encoding="utf-8")
    link = RunLink("--session", str(path))
    try:
        assert "can read" in hear(link, anything).failure
    finally:
        link.close()


def test_the_newest_run_is_found_and_shown_and_a_finished_one_makes_way(tmp_path: Path) -> None:
    async def act() -> None:
        async with stage(size=(120, 40), sessions=tmp_path) as on:
            await on.show(reading())
            await on.press("3")
            assert "No training run is being recorded" in on.text
            first = RunWriter(tmp_path, "first")
            await _until(on, lambda: "session first" in on.text)
            first.end()
            await _until(on, lambda: "exit 0" in on.text)
            second = RunWriter(tmp_path, "second")
            await _until(on, lambda: "session second" in on.text)
            second.close()

    asyncio.run(act())


def test_n_goes_to_the_next_of_several_runs(tmp_path: Path) -> None:
    async def act() -> None:
        one, two = RunWriter(tmp_path, "one"), RunWriter(tmp_path, "two")
        async with stage(size=(120, 40), sessions=tmp_path) as on:
            await on.press("3")
            await _until(on, lambda: "1 of 2 live, n next" in on.text)
            before = on.text
            await on.press("n")
            await _until(on, lambda: ("session one" in on.text) != ("session one" in before))
        one.close()
        two.close()

    asyncio.run(act())


SCRIPT = "import sys, time; print('begun', sys.stdout.isatty()); time.sleep({}); sys.exit({})"


async def _until(on: Stage, done: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < limit, on.text
        await on.pilot.pause(0.1)


def test_a_command_is_started_its_output_kept_and_its_exit_code_shown(tmp_path: Path) -> None:
    async def act() -> None:
        command = (sys.executable, "-c", SCRIPT.format(1, 7))
        async with stage(size=(120, 40), sessions=tmp_path, script=command, view="run") as on:
            await _until(on, lambda: "begun True" in on.text)
            await on.press("o")
            assert "begun True" in on.text
            await on.press("escape")
            await _until(on, lambda: "exit 7" in on.text and on.app.runs.exit_code is not None)
            await on.press("q")
            assert on.app.return_value == 7

    asyncio.run(act())


def test_a_run_that_ended_before_it_was_attached_leaves_the_machine_live(tmp_path: Path) -> None:
    async def act() -> None:
        folder, session = tmp_path / "sessions", write_session(tmp_path / "over.session", recorded("numpy-function"))
        async with stage(size=(120, 40), sessions=folder, script=(sys.executable, "-c", "pass"), view="run") as on:
            source = on.app.source
            await _until(on, lambda: on.app.watch_state.run.news is not None and "exit 0" in on.text)
            on.app.runs._follow(str(session))  # as `_look` does, for a run that ends just then  # pyright: ignore[reportPrivateUsage]
            await _until(on, lambda: " steps" in on.lines[1])
            assert on.app.source is source
            assert on.app.watch_state.source == ""
            news = on.app.watch_state.run.news
            assert news is not None
            assert news.place_s == news.length_s

    asyncio.run(act())


class _Piped(Still):
    """A source with a pipe that has ended: whoever listens to it is woken for ever."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        os.close(write)
        self.closed = False

    @property
    def fd(self) -> int:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return its end."""
        return self._read

    def take(self) -> Reading | None:
        """Return nothing; nobody should ask once it is closed."""
        assert not self.closed
        return None

    def close(self) -> None:
        """Close it."""
        self.closed = True


def test_the_source_that_a_recording_replaces_is_closed_and_not_listened_to(tmp_path: Path) -> None:
    async def act() -> None:
        path = str(write_session(tmp_path / "over.session", recorded("numpy-function")))
        source = _Piped()
        async with stage(size=(120, 40), source=source, session=path) as on:
            await _until(on, lambda: on.app.watch_state.source.startswith("SESSION"))
            await on.settle()
            assert source.closed

    asyncio.run(act())


def test_quitting_asks_what_becomes_of_the_run(tmp_path: Path) -> None:
    async def act() -> None:
        command = (sys.executable, "-c", SCRIPT.format(600, 0))
        async with stage(size=(120, 40), sessions=tmp_path, script=command, view="run") as on:
            await _until(on, lambda: "begun True" in on.text)
            await on.press("q")
            assert "leave it running" in on.text
            await on.press("escape")
            assert on.app.is_running
            await on.press("K", "y")
            await _until(on, lambda: on.app.runs.exit_code is not None)
            assert on.app.runs.exit_code == 130

    asyncio.run(act())


def test_a_run_outlives_the_screen_and_its_terminal(tmp_path: Path) -> None:
    started = StartedRun((sys.executable, "-c", SCRIPT.format(2, 5) + "; print('never')"), tmp_path)
    limit = time.monotonic() + PATIENCE_S
    while started.exit_code is None:
        assert time.monotonic() < limit
        time.sleep(0.1)
    assert started.exit_code == 5
    assert "begun True" in started.log.read_text(encoding="utf-8")
    assert read_session(started.session).exit_code == 5


def test_a_reader_that_dies_is_said_and_started_again(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    link = RunLink("--session", str(writer.path))
    try:
        hear(link, anything)
        os.kill(link.pid, 9)
        limit = time.monotonic() + PATIENCE_S
        while link.fd is not None and time.monotonic() < limit:
            link.take()
            time.sleep(0.05)
        assert "the reader of the session ended" in link.trouble
        while not link.check():
            assert time.monotonic() < limit
            time.sleep(0.2)
        writer.second()
        hear(link, lambda news: news.report is not None)
        assert not link.trouble
    finally:
        link.close()
        writer.close()


def test_recorded_machine_comes_with_a_finished_session(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    writer.second()
    writer.end()
    link = RunLink("--session", str(writer.path))
    try:
        limit = time.monotonic() + PATIENCE_S
        told: list[object] = []
        while not any(isinstance(each, Recorded) for each in told):
            assert time.monotonic() < limit
            time.sleep(0.05)
            told += link.take()
        first = next(each for each in told if isinstance(each, Recorded))
        assert {each.gpu_percent for each in first.gpus} == {34}
    finally:
        link.close()
