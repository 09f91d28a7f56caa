"""Which recordings are being written now: a look at names beside the session files, cheap enough for each second.

Opening the files would tell more; the dashboard asks all the time, and opens only the one that it shows.
"""

from __future__ import annotations

from pathlib import Path

from gpudoctor.profile.spool import OWNER, Spool

SESSION, LIVE = ".session", ".live"


def live_sessions(folder: Path) -> list[Path]:
    """Return the sessions of the folder that are being written, newest first."""
    found: list[tuple[float, Path]] = []
    for spool in folder.glob(f"*{SESSION}{LIVE}"):
        begun = _begun(spool)
        if begun is not None and Spool(spool).owner_alive():
            found.append((begun, spool.with_name(spool.name.removesuffix(LIVE))))
    return [path for _, path in sorted(found, reverse=True)]


def _begun(spool: Path) -> float | None:
    try:
        return (spool / OWNER).stat().st_mtime
    except OSError:
        return None
