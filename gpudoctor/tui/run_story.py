"""From a session to the news of a run: judged by the engine, cut to a moment, resampled for the plot.

The judgement is the one of `gpudoctor report`, whole run and all checks: two doors must not give two answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpudoctor import __version__
from gpudoctor.diagnose.registry import Registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.missing import either
from gpudoctor.model.report import Report
from gpudoctor.model.run import StepTimes
from gpudoctor.model.session import Session
from gpudoctor.profile.breakdown import WindowShare
from gpudoctor.profile.outcome import remarks
from gpudoctor.profile.steps import Loop, Stretch, main_loop
from gpudoctor.profile.windows import window_shares
from gpudoctor.redaction import Rewrite
from gpudoctor.tui.history import SPANS_S
from gpudoctor.tui.run_news import RunNews
from gpudoctor.tui.steady_findings import SteadyFindings
from gpudoctor.tui.time_line import time_line


class ReadTraces:
    """What the traces of windows show; each is read once, for unpacking a trace takes longer than all the rest."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[tuple[str, int], tuple[WindowShare, ...]] = {}

    def of(self, session: Session) -> tuple[WindowShare, ...]:
        """Return the shares of the session's windows."""
        if self._path is None:
            return ()
        found: list[WindowShare] = []
        for each in session.windows:
            key = (each.process, each.window)
            if each.status == "ok" and key not in self._known:
                self._known[key] = window_shares(self._path, replace(session, windows=(each,)))
            found += self._known.get(key, ())
        return tuple(found)


class Story:
    """Tells a run moment by moment."""

    def __init__(self, known: Registry, rewrite: Rewrite | None, path: Path | None = None) -> None:
        self._known, self._rewrite, self._traces = known, rewrite, ReadTraces(path)
        self._steady = SteadyFindings()
        self._told_pages = False
        self.span_s, self.count = 300, 100

    def tell(self, session: Session, *, at_s: float, length_s: float) -> RunNews:
        """Return the news of a session that is cut to `at_s` already; while it runs, findings wait until they held."""
        report = self._judged(session)
        shown = self._steady.take(report) if session.outcome == "running" else report
        loop, run = main_loop(session), report.snapshot.run
        span_s = next((each for each in SPANS_S if each >= at_s - session.started_at), self.span_s)
        span_s = min(span_s, self.span_s)  # a young run fills the plot
        shares = run.steps.shares if run is not None and run.steps is not None else None
        columns = time_line(
            () if loop is None else _with_known_waits(loop, None if run is None else run.steps),
            session.gpu_samples,
            shares,
            until_s=at_s,
            span_s=span_s,
            count=self.count,
        )
        return RunNews(
            place_s=max(0.0, at_s - session.started_at),
            length_s=length_s,
            at_s=at_s,
            epoch=_epoch(session),
            steps=0 if loop is None else loop.steps,
            columns=columns,
            span_s=span_s,
            report=shown,
            pages=self._pages(),
        )

    def jump(self) -> None:
        """Forget how long findings held: the place was changed."""
        self._steady.forget()

    def _judged(self, session: Session) -> Report:
        made = report_of_run(
            session,
            self._known.checks,
            windows=self._traces.of(session),
            plugins=self._known.plugins,
            remarks=remarks(session),
            rewrite=self._rewrite,
        )
        return replace(made, tool={"name": "gpudoctor", "version": __version__})

    def _pages(self) -> dict[str, str]:
        if self._told_pages:
            return {}
        self._told_pages = True
        return {each.code: each.page for each in self._known.checks}


def _epoch(session: Session) -> int:
    """Return the number of the epoch that runs or ran last, from 1; 0 without one."""
    return max((each.number + 1 for each in session.phases if each.kind == "epoch"), default=0)


def _with_known_waits(loop: Loop, steps: StepTimes | None) -> Sequence[Stretch]:
    """Return the stretches; where fetches run beside compute, their stamps say nothing, and each waits as the windows say."""
    if not loop.record.overlaps and (steps is None or steps.steps_per_execution == 1):
        return loop.stretches
    share = 0.0 if steps is None else either(steps.shares.input, 0.0)
    return [replace(each, wait_s=share * each.span_s) for each in loop.stretches]
