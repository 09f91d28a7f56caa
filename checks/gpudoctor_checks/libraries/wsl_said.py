"""What a text says of the libraries that WSL itself brings."""

from __future__ import annotations

from gpudoctor.sdk import Finding, LogEvent, Trial, weigh_unusable
from gpudoctor_checks.driver.cuinit_events import WSL_FIRST
from gpudoctor_checks.said import by_hand, log_finding

# what WSL lays beside its libcuda in /usr/lib/wsl/lib; no distribution has them
OF_WSL = ("libd3d12", "libdxcore")
UPDATE_WSL = by_hand(
    "update-wsl",
    "Or update WSL, then start it anew",
    "In Windows: wsl --update, then wsl --shutdown",
    why="WSL brings these libraries itself",
)


def of_wsl(named: tuple[LogEvent, ...], trial: Trial | None) -> Finding | None:
    """Return the finding on WSL's own libraries, where one of them is named as not opened."""
    if not any(each.values.get("library", "").startswith(OF_WSL) for each in named):
        return None
    summary, weight = "WSL's own libraries, which its libcuda needs, are not found.", weigh_unusable(0.9, trial)
    return log_finding(summary, weight, named, WSL_FIRST, UPDATE_WSL, cause="wsl-libcuda", know="ls /usr/lib/wsl/lib")
