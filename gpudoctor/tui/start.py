"""Start the dashboard, or take a picture of it. The sampler starts first: it reads while Textual loads."""

from __future__ import annotations

import os

from gpudoctor.tui.options import Options
from gpudoctor.tui.sampling.link import SamplerLink


def start(
    *,
    root: str,
    interval_s: float,
    theme: str,
    readonly: bool,
    python: str | None,
    judging: tuple[str, ...],
    snapshot: str | None,
    demo: bool,
    screenshot: str | None,
) -> int:
    """Run until the user quits; with `screenshot` write one SVG file and end."""
    live = SamplerLink(root, interval_s) if snapshot is None and not demo else None
    _honour_no_color()
    from gpudoctor.tui import sources  # noqa: PLC0415  # after the sampler, see above
    from gpudoctor.tui.app import MonitorApp  # noqa: PLC0415

    options = Options(
        judging=judging,
        root=root,
        interval_s=interval_s,
        theme=theme,
        readonly=readonly,
        python=python,
        snapshot=snapshot,
        demo=demo,
    )
    app = MonitorApp(options, live or sources.Still())
    if screenshot is not None:
        from gpudoctor.tui.picture import take_picture  # noqa: PLC0415

        return take_picture(app, screenshot)
    return app.run() or 0


def _honour_no_color() -> None:
    """Take an empty NO_COLOR away: by its definition (no-color.org) it says nothing, and Textual would obey it."""
    if os.environ.get("NO_COLOR") == "":
        del os.environ["NO_COLOR"]
