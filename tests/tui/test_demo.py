"""The shipped recording: what its writer writes, a story that the screen tells, and the picture of the README."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from gpudoctor.codec import load_snapshot
from gpudoctor.tui.demo_run import demo_session, demo_snapshot
from gpudoctor.tui.sources import DEMO, Recording, demo
from tests.tui import record_demo
from tests.tui.stage import stage

HOT, STARVED = 231, 60
PATIENCE_S = 60.0


def test_the_recording_is_what_its_writer_writes(tmp_path: Path) -> None:
    record_demo.write(tmp_path)
    for name in ("snapshot.json", "recording.csv", "session.json"):
        assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes()


def test_machine_recording_and_run_are_of_one_training() -> None:
    machine, session = demo_snapshot(), demo_session()
    assert machine.gpus is not None
    assert machine.python is not None
    assert machine.tensorflow is not None
    readings, gpu, process = demo(machine).readings, machine.gpus[0], session.processes[0]
    assert {(each.name, each.memory_total_bytes, each.power_limit_w) for each in session.gpu_samples} == {
        (gpu.name, gpu.memory.total_bytes, gpu.power.limit_w)
    }
    assert (process.python, process.tensorflow_version) == (machine.python.version, machine.tensorflow.version)
    assert process.keras_version == machine.tensorflow.keras_version
    assert machine.probe is None  # a scan beside a training leaves the GPU alone
    last, told = readings[-1], session.host_samples[-1]
    own = next(each for each in last.processes if each.pid == process.pid)
    assert own.command == " ".join(session.command)
    assert own.host_memory_bytes == told.command_rss_bytes
    assert last.host.memory_used_bytes == told.memory_used_bytes
    peak = max(each.peak_bytes for each in session.memory if isinstance(each.peak_bytes, int))
    assert isinstance(own.gpu_memory_bytes, int)
    assert isinstance(last.gpus[0].memory.used_bytes, int)
    assert peak < own.gpu_memory_bytes < last.gpus[0].memory.used_bytes


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


def test_why_and_the_fixes_follow_the_figures() -> None:
    async def act() -> None:
        async with stage(size=(132, 36), demo=True) as on:
            app, watch = on.app, on.app.watch_state
            watch.paused = True
            for second, code, word in ((STARVED, "GD513", "no throttling"), (HOT, "GD801", "too hot: slowed by HW")):
                limit = time.monotonic() + PATIENCE_S
                while not (watch.run.at(second) and isinstance(app.source, Recording)):
                    assert time.monotonic() < limit
                    if isinstance(app.source, Recording):
                        app.show_readings(app.source.seek(second - app.source.place_s))
                        app.runs.play(second, jump=True)
                    await on.pilot.pause(0.2)
                await on.settle()
                assert word in on.text
                why = next(line for line in on.lines if line.startswith(" WHY"))
                assert code in why
                assert watch.why is not None
                first = next(line for line in on.lines if line.startswith(" FIX  1"))
                assert watch.why.fixes[0].title in first
                await on.press("2")
                listed = [line.split("│")[0] for line in on.lines]
                begin = next(at for at, line in enumerate(listed) if "FIXES" in line)
                judged = watch.judged
                assert judged is not None
                for place, fix in enumerate(judged.fixes[:4]):
                    assert fix.title[:20] in listed[begin + 1 + place]
                await on.press("3")
                assert "BOTTLENECK" in on.text
                assert "train.py:38" in on.text
                await on.press("1")

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
