"""A picture of the dashboard as an SVG file, without a terminal: `gpudoctor monitor --demo --screenshot FILE`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from gpudoctor.errors import OutputError, UsageError
from gpudoctor.tui.app import MonitorApp
from gpudoctor.tui.sources import Recording

SIZE = (132, 36)
DEMO_SECOND = 231  # the recording's hot phase, with its history behind it
PATIENCE_S = 20.0
STEP_S = 0.05
IDS = re.compile(r"terminal-\d+")


def take_picture(app: MonitorApp, path: str) -> int:
    """Run the app unseen, wait for its first reading, and write what it shows. Raises OutputError."""
    svg = asyncio.run(_svg(app))
    try:
        Path(path).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    return 0


async def _svg(app: MonitorApp) -> str:
    async with app.run_test(size=SIZE) as pilot:
        app.watch_state.paused = True  # a recording stands still where it is put
        await _until(pilot.pause, lambda: _shown(app) or bool(app.watch_state.run.trouble))
        if app.options.session is not None and app.watch_state.run.news is None:
            raise UsageError(app.watch_state.run.trouble or f"{app.options.session}: tells nothing")
        if isinstance(app.source, Recording):
            place = DEMO_SECOND if app.options.demo else app.source.length_s
            app.show_readings(app.source.seek(place))
            app.runs.play(app.source.told_s, jump=True)
            await _until(pilot.pause, lambda: app.watch_state.run.at(place))
        app.watch_state.paused = False
        app.show_readings([])
        await pilot.pause()
        return stable(app.export_screenshot())


def _shown(app: MonitorApp) -> bool:
    """Return whether what was asked for has come."""
    watch = app.watch_state
    if app.options.demo or app.options.over:
        return isinstance(app.source, Recording) and watch.run.news is not None
    return watch.reading is not None and (app.options.session is None or watch.run.news is not None)


async def _until(pause: Callable[[float], Awaitable[None]], done: Callable[[], bool]) -> None:
    for _ in range(int(PATIENCE_S / STEP_S)):
        if done():
            return
        await pause(STEP_S)


def stable(svg: str) -> str:
    """Return the picture without the random name that its rules carry, so that the same screen gives the same file."""
    return IDS.sub("gpudoctor", svg)
