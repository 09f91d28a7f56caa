"""What is known of the run that is watched and how it is looked at. It knows no widget and no process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpudoctor.model.finding import Finding
from gpudoctor.model.report import Report
from gpudoctor.model.run import Run
from gpudoctor.tui.history import SPANS_S
from gpudoctor.tui.run_news import RunNews


@dataclass(slots=True)
class RunWatch:
    """The state of the run view. `live`: how many recordings are being written; `output`: what a started run printed.

    `started`: a command that this dashboard started; `exit_code` is its, None while it runs. `held`: the user holds the screen.
    """

    news: RunNews | None = None
    span_s: int = SPANS_S[1]
    row: int = 0
    live: int = 0
    waiting: str = ""
    trouble: str = ""
    started: tuple[str, ...] = ()
    exit_code: int | None = None
    stopping: bool = False
    held: bool = False
    output: Sequence[str] = ()

    @property
    def report(self) -> Report | None:
        """Return the judgement of the run."""
        return None if self.news is None else self.news.report

    @property
    def run(self) -> Run | None:
        """Return what was analysed."""
        return None if self.report is None else self.report.snapshot.run

    @property
    def training(self) -> bool:
        """Return whether the run goes on."""
        return self.run is not None and self.run.outcome == "running"

    def at(self, place_s: float) -> bool:
        """Return whether the news is of that place of a replay."""
        return self.news is not None and abs(self.news.place_s - place_s) < 2.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, most important first."""
        return () if self.report is None else self.report.findings

    @property
    def chosen(self) -> Finding | None:
        """Return the finding under the cursor."""
        found = self.findings
        return found[min(self.row, len(found) - 1)] if found else None

    def move(self, step: int) -> None:
        """Move among the findings."""
        self.row = max(0, min(self.row + step, len(self.findings) - 1))

    def next_span(self, step: int) -> None:
        """Change how far back the plot looks."""
        self.span_s = SPANS_S[(SPANS_S.index(self.span_s) + step) % len(SPANS_S)]
