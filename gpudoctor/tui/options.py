"""How the dashboard was started."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the monitor was started. `judging`: the examiner's options that choose checks and their severities."""

    root: str = "/"
    interval_s: float = 1.0
    theme: str = "dark"
    readonly: bool = False
    python: str | None = None
    judging: tuple[str, ...] = ()
    snapshot: str | None = None
    demo: bool = False
