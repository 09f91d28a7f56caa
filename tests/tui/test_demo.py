"""The shipped recording: what its writer writes, a story that the screen tells, and the picture of the README."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from gpudoctor.codec import load_snapshot
from gpudoctor.tui.sources import DEMO, demo
from tests.tui import record_demo
from tests.tui.stage import stage

HOT, STARVED = 231, 60


def test_the_recording_is_what_its_writer_writes(tmp_path: Path) -> None:
    record_demo.write(tmp_path)
    for name in ("snapshot.json", "recording.csv"):
        assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes()


def test_the_screen_tells_the_story() -> None:
    async def act() -> None:
        async with stage(size=(132, 36)) as on:
            recording = demo(load_snapshot((DEMO / "snapshot.json").read_bytes()))
            on.app.source = recording
            on.app.watch_state.paused = True
            on.app.show_readings(recording.seek(STARVED))
            await on.settle()
            assert "no throttling" in on.text
            on.app.show_readings(recording.seek(HOT - STARVED))
            await on.settle()
            assert "too hot: slowed by HW" in on.text
            assert "DEMO 3:51/4:59" in on.text

    asyncio.run(act())


def test_the_recording_starts_again_at_its_end() -> None:
    recording = demo(load_snapshot((DEMO / "snapshot.json").read_bytes()))
    recording.seek(10_000)
    assert recording.place == len(recording.readings) - 1
    recording.step(1.0)
    assert recording.place == 0


def test_the_picture_is_made_by_a_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpudoctor", "monitor", "--demo", "--screenshot", str(tmp_path / "picture.svg")]
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(tmp_path), "TZ": "UTC"}
    subprocess.run(command, check=True, env=env, timeout=60, stdin=subprocess.DEVNULL, capture_output=True)
    svg = (tmp_path / "picture.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    for words in ("a kernel ran", "too hot: slowed by HW", "WHY", "14:03:51"):
        assert words in svg
