"""One reading of the demo's invented machine, for who asks for the demo where there is no terminal to draw on."""

from __future__ import annotations

from gpudoctor.codec import load_snapshot
from gpudoctor.tui import once_forms, sources

SECOND = 231  # as in picture.py: the recording's hot phase


def print_demo(form: str) -> int:
    """Print it; the exit code is 0."""
    path = sources.DEMO / "snapshot.json"
    recording = sources.demo(load_snapshot(path.read_bytes(), name=str(path)))
    once_forms.emit(recording.readings[SECOND], form, identifiers=False)
    return 0
