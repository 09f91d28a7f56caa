"""The run view, before there are runs: it says what it is for."""

from __future__ import annotations

from gpudoctor.tui.screens.view import ViewScreen
from gpudoctor.tui.views.chrome import footer_line, header_line
from gpudoctor.tui.views.lines import Line, crop
from gpudoctor.tui.views.run import run_lines

KEYS = (
    ("?", "help", "app.help"),
    ("q", "quit", "app.quit"),
    ("1", "machine", "app.view('machine')"),
    ("2", "doctor", "app.view('doctor')"),
)


class RunScreen(ViewScreen):
    """What a run of the user's script will look like."""

    def frame(self, width: int, height: int) -> list[Line]:
        """Return the lines of this view."""
        watch = self.watch_state
        lines = [header_line("run", watch.reading, width, source=watch.banner), (), *run_lines(width)]
        lines = [crop(line, width) for line in lines[: height - 1]]
        lines += [()] * (height - 1 - len(lines))
        return [*lines, footer_line(KEYS, width)]
