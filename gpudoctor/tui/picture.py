"""A picture of the dashboard as an SVG file, without a terminal: `gpudoctor monitor --demo --screenshot FILE`."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from gpudoctor.errors import OutputError
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
        for _ in range(int(PATIENCE_S / STEP_S)):
            if app.watch_state.reading is not None or isinstance(app.source, Recording):
                break
            await pilot.pause(STEP_S)
        if isinstance(app.source, Recording):
            app.show_readings(app.source.seek(DEMO_SECOND))
        await pilot.pause(STEP_S)
        return stable(app.export_screenshot())


def stable(svg: str) -> str:
    """Return the picture without the random name that its rules carry, so that the same screen gives the same file."""
    return IDS.sub("gpudoctor", svg)
