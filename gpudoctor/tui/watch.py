"""What is being watched and how it is looked at: readings, history, order and filter. It knows no widget and no process.

Keeping this in the screens would be shorter, and each view would then forget what the other had chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.report import Report
from gpudoctor.tui.history import SPANS_S, History
from gpudoctor.tui.messages import ProcessLoad, Reading
from gpudoctor.tui.run_watch import RunWatch
from gpudoctor.tui.views.processes import SORTS, arranged


def gravest(report: Report) -> tuple[int, float]:
    """Return the place of the gravest finding among the severities and how unsure it is; behind all others without one."""
    order = list(Severity)
    places = ((order.index(each.severity), 1 - each.confidence) for each in report.findings if each.caused_by is None)
    return min(places, default=(len(order), 1.0))


@dataclass(slots=True)
class Watch:
    """The state of the program."""

    reading: Reading | None = None
    history: History = field(default_factory=History)
    trouble: str = ""
    stale: bool = False
    paused: bool = False
    gpu: int = 0
    span_s: int = SPANS_S[1]
    sort: str = SORTS[0]
    pattern: str = ""
    tree: bool = False
    row: int = 0
    tagged: frozenset[int] = frozenset()
    report: Report | None = None
    source: str = ""
    run: RunWatch = field(default_factory=RunWatch)

    def take(self, reading: Reading) -> None:
        """Take a new reading. While NVML is silent, the GPUs stay as they were last seen, and are marked so."""
        last = self.reading
        self.stale = bool(self.trouble)
        if self.trouble and not reading.gpus and last is not None and last.gpus:
            reading = replace(reading, gpus=last.gpus, nvml=last.nvml, traffic=last.traffic, migs=last.migs)
        if not self.stale:
            self.history.add(reading.at_s, reading.gpus)
        self.reading = reading
        if self.gpu >= max(1, len(reading.gpus)):
            self.gpu = 0
        self.tagged &= {each.pid for each in reading.processes}

    @property
    def banner(self) -> str:
        """Return what must be said beside the clock: paused, or not live."""
        return "  ".join(each for each in ("PAUSED" if self.paused else "", self.source) if each)

    @property
    def judged(self) -> Report | None:
        """Return what the doctor view shows: the last scan, without one the run that is watched."""
        return self.report if self.report is not None else self.run.report

    @property
    def why(self) -> Report | None:
        """Return the judgement that says why the GPU is as it is: the graver one, then the surer one."""
        run = self.run.report
        if run is not None and not run.findings and (run.snapshot.run is None or run.snapshot.run.steps is None):
            run = None  # a run that shows nothing says nothing of the machine
        told = [each for each in (run, self.report) if each is not None]
        return min(told, key=gravest, default=None)

    @property
    def chosen_gpu(self) -> Gpu | None:
        """Return the GPU under the cursor."""
        gpus = self.reading.gpus if self.reading is not None else ()
        return next((each for each in gpus if each.index == self.gpu), None)

    @property
    def rows(self) -> list[tuple[int, ProcessLoad]]:
        """Return the processes as the screen orders them."""
        processes = self.reading.processes if self.reading is not None else ()
        return arranged(processes, sort=self.sort, pattern=self.pattern, tree=self.tree)

    @property
    def chosen_process(self) -> ProcessLoad | None:
        """Return the process under the cursor."""
        rows = self.rows
        return rows[min(self.row, len(rows) - 1)][1] if rows else None

    def hold(self) -> None:
        """Hold the screen, or let it go on."""
        self.paused = not self.paused
        self.run.held = self.paused and not self.source  # a replay stands still by itself, and can be scrubbed

    def move_gpu(self, step: int) -> None:
        """Move the cursor among the GPUs, around the ends."""
        count = len(self.reading.gpus) if self.reading is not None else 0
        if count:
            self.gpu = (self.gpu + step) % count

    def move_row(self, step: int) -> None:
        """Move the cursor among the processes, not around the ends."""
        self.row = max(0, min(self.row + step, len(self.rows) - 1))

    def next_span(self, step: int = 1) -> None:
        """Change how far back the plots look."""
        self.span_s = SPANS_S[(SPANS_S.index(self.span_s) + step) % len(SPANS_S)]

    def next_sort(self, step: int = 1) -> None:
        """Change the order of the processes."""
        self.sort = SORTS[(SORTS.index(self.sort) + step) % len(SORTS)]

    def tag(self) -> None:
        """Mark the process under the cursor, or take the mark off."""
        process = self.chosen_process
        if process is not None:
            self.tagged ^= {process.pid}
