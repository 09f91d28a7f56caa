"""When a judgement began, and with that what every report says of its making: by which tool, of what, when, how long."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone

from gpudoctor import __version__
from gpudoctor.model.report import Report

TOOL = {"name": "gpudoctor", "version": __version__}


class Begun:
    """The moment at which it is made; `signed` closes what began then."""

    def __init__(self) -> None:
        self.at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._since = time.perf_counter()

    def signed(self, report: Report, target: Mapping[str, str]) -> Report:
        """Return the report with its making told."""
        duration_s = round(time.perf_counter() - self._since, 3)
        return replace(report, tool=TOOL, target=target, started_at=self.at, duration_s=duration_s)
