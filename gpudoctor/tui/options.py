"""How the dashboard was started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the monitor was started. `judging`: the examiner's options that choose checks and their severities.

    `session`: a recording to show, `over` where it is finished; `script`: a command to start; `sessions`: the folder in which
    recordings are looked for and a started command's is put, None: nowhere.
    """

    root: str = "/"
    interval_s: float = 1.0
    theme: str = "dark"
    readonly: bool = False
    python: str | None = None
    judging: tuple[str, ...] = ()
    snapshot: str | None = None
    demo: bool = False
    session: str | None = None
    over: bool = False
    script: tuple[str, ...] = ()
    sessions: Path | None = None
    view: str = "machine"

    @property
    def replayed(self) -> str:
        """Return what is played in place of this machine, '' where it is watched live."""
        return "DEMO" if self.demo else "SNAPSHOT" if self.snapshot else "SESSION" if self.over else ""
