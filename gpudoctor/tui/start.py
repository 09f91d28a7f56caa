"""Start the dashboard, or take a picture of it. The sampler starts first: it reads while Textual loads."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gpudoctor.errors import GpudoctorError
from gpudoctor.tui.options import Options
from gpudoctor.tui.sampling.link import SamplerLink

if TYPE_CHECKING:
    from gpudoctor.tui.started_run import StartedRun


def start(options: Options, screenshot: str | None) -> int:
    """Run until the user quits; with `screenshot` write one SVG file and end."""
    live = None if options.replayed else SamplerLink(options.root, options.interval_s)
    _honour_no_color()
    from gpudoctor.tui import sources  # noqa: PLC0415  # after the sampler, see above
    from gpudoctor.tui.app import MonitorApp  # noqa: PLC0415

    app = MonitorApp(options, live or sources.Still())
    if screenshot is not None:
        from gpudoctor.tui.picture import take_picture  # noqa: PLC0415

        return take_picture(app, screenshot)
    code = app.run() or (GpudoctorError.exit_code if app.return_code else 0)  # Textual has told what ended it
    if app.runs.started is not None:
        _say_what_goes_on(app.runs.started)
    return code


def _say_what_goes_on(started: StartedRun) -> None:
    """Tell where the run that was started is to be found: the screen that knew it is gone."""
    code = started.exit_code
    how = f"ended, exit {code}" if code is not None else "was asked to stop" if started.stopping else "goes on"
    sys.stderr.write(
        f"gpudoctor: {' '.join(started.command)} {how}; its output: {started.log}\n"
        f"gpudoctor: `gpudoctor monitor --session {started.session.stem}` shows it, `gpudoctor report {started.session.stem}` judges it\n"
    )


def _honour_no_color() -> None:
    """Take an empty NO_COLOR away: by its definition (no-color.org) it says nothing, and Textual would obey it."""
    if os.environ.get("NO_COLOR") == "":
        del os.environ["NO_COLOR"]
