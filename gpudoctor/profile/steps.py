"""Which loop the run lived in, and its steady steps: counts, time and wait, with the warm-up apart.

A mean over everything would be shorter. The first steps hold tracing, XLA's compiling and the caches' filling, and in a
run of a minute they are half of it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.model.missing import Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import UNFETCHED
from gpudoctor.model.session import LoopRecord, PhaseRecord, Session, StepPartRecord, StepSample
from gpudoctor.profile.spans import merged

TRAINING = frozenset({"fit", "train_on_batch", "loop"})
READ_LATE_S = 0.02  # a border's sample is taken within this time behind the border (measured: under 1 ms without load)
SAME_TIME = 0.8  # policy: a fetching loop around `train_on_batch` is one loop with it, and knows the wait
OWN = UNFETCHED - {"call"}  # kinds of loops that are counted by a part of their step
ASIDE = 0.1  # policy: what runs in less than a tenth of the steps (a probe of a gradient, a second network) is no step
MEETS = 0.5  # policy: loops one after another do not meet at all
FEEDS = 0.5  # policy: most of what is fetched goes into a step of its own
FIRST_STEPS = 3  # with no more of them before, a tracing is that of the first step
INNER = frozenset({"validation", "epoch_end"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A time in which one loop ran without a break: from a reading of its counters to another."""

    start: float
    end: float
    steps: int
    wait_s: float
    inside_s: float = 0.0

    @property
    def span_s(self) -> float:
        """Return how long it took."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A loop with all of its rows added up. `stretches` in order; `steady` of them are behind the warm-up.

    `profiled`: those during profiler windows, which cost time; they are not among the steady ones.
    """

    record: LoopRecord
    stretches: tuple[Stretch, ...]
    steady: tuple[Stretch, ...]
    apart: bool = True
    profiled: tuple[Stretch, ...] = ()

    @property
    def steps(self) -> int:
        """Return all steps, warm-up included."""
        return sum(each.steps for each in self.stretches)

    @property
    def steady_s(self) -> float:
        """Return the time of the steps behind the warm-up."""
        return sum(each.span_s for each in self.steady)

    @property
    def total_s(self) -> float:
        """Return the time of all steps."""
        return sum(each.span_s for each in self.stretches)


def main_loop(session: Session) -> Loop | None:
    """Return the training loop in which most time went; without any the loop of evaluate or predict."""
    loops = [each for each in _loops(session) if each.steps]
    chosen = [each for each in loops if each.record.label in TRAINING] or loops
    longest = max((each.total_s for each in chosen), default=0.0)
    rivals = [each for each in chosen if each.total_s >= SAME_TIME * longest]
    own = max((each for each in rivals if each.record.kind in OWN), key=lambda each: each.total_s, default=None)
    step = None if own is None else _step_of(_together(chosen, own), session)
    others = [each for each in rivals if each.record.kind not in OWN and (step is None or _holds(each, step, session))]
    return max(others, key=lambda each: (each.record.kind != "call", each.total_s), default=step)


def _together(loops: Sequence[Loop], longest: Loop) -> list[Loop]:
    """Return the parts that run at the same time: a first update builds the optimizer, so it may end late in a short run."""
    span = [(longest.stretches[0].start, longest.stretches[-1].end)]
    own = [each for each in loops if each.record.kind in OWN]
    met = {id(each): overlap(span, each.stretches[0].start, each.stretches[-1].end) for each in own}
    return [each for each in own if each is longest or met[id(each)] >= MEETS * longest.total_s]


def _step_of(own: Sequence[Loop], session: Session) -> Loop | None:
    """Return the one of several parts of a loop whose calls are its steps: an update if there is any, the least often called."""
    updates = [each for each in own if each.record.kind == "update" or "update" in _part(each, session).holds]
    often = ASIDE * max((each.steps for each in own), default=0)
    left = [each for each in updates or own if each.steps >= often]
    return min(left or own, key=lambda each: (each.steps, -each.total_s), default=None)


def _holds(loop: Loop, step: Loop, session: Session) -> bool:
    """Return whether a loop that fetches, or calls Keras, has these steps inside: not one of evaluations between them."""
    return loop.record.kind == "call" or _part(step, session).fed >= FEEDS * loop.steps


def _part(loop: Loop, session: Session) -> StepPartRecord:
    """Return the part that a loop of a kind in `OWN` counts."""
    record = loop.record
    named = (
        each for each in session.step_parts if (each.process, f"part {each.part}") == (record.process, record.graph)
    )
    return next(named, StepPartRecord(process=record.process, part=0))


def _loops(session: Session) -> Iterator[Loop]:
    for rows in _groups(session.loops):
        record = replace(rows[0], overlaps=any(each.overlaps for each in rows))
        counters = _added(session.steps, rows)
        if not counters:
            continue
        phases = _phases(session.phases, record)
        stretches = tuple(each for each in _stretches(counters, phases, record) if each.steps > 0)
        if stretches:
            profiled = _during(stretches, _window_times(session, record.process))
            left = tuple(each for each in stretches if each not in profiled) or stretches
            steady, apart = _steady(left, session, record)
            yield Loop(record=record, stretches=stretches, steady=steady, apart=apart, profiled=profiled)


def _groups(loops: Sequence[LoopRecord]) -> list[list[LoopRecord]]:
    """Return rows that count the same loop: rows of one label and line add up, replicas but the first are left out."""
    groups: dict[tuple[str, str, str, int, str], list[LoopRecord]] = {}
    for each in loops:
        if each.replica == 0:
            keras = each.label not in {"loop", "train_on_batch"}
            part = each.graph if each.kind in OWN else ""
            key = (each.process, each.label, "" if keras else each.file, 0 if keras else each.line, part)
            groups.setdefault(key, []).append(each)
    return list(groups.values())


def _added(samples: Sequence[StepSample], rows: Sequence[LoopRecord]) -> list[tuple[float, float, float, float, float]]:
    """Return (at, count, wait, inside, end sum as a time sum) of the rows together, at every reading of any of them."""
    made = {(each.process, each.loop): each.made_at for each in rows}
    last: dict[tuple[str, int], tuple[float, float, float, float]] = {}
    read: list[tuple[float, float, float, float, float]] = []
    for each in sorted((each for each in samples if (each.process, each.loop) in made), key=lambda each: each.at):
        key = (each.process, each.loop)
        ends = 0.0 if isinstance(each.end_sum_s, Missing) else each.end_sum_s + made[key] * each.count
        last[key] = (each.count, _or_zero(each.wait_s), _or_zero(each.inside_s), ends)
        count, wait, inside, end = (sum(values) for values in zip(*last.values(), strict=True))
        if read and each.at - read[-1][0] < 1e-9:
            read.pop()
        read.append((each.at, count, wait, inside, end))
    return read


def _or_zero(value: float | Missing) -> float:
    return 0.0 if isinstance(value, Missing) else value


def _phases(phases: Sequence[PhaseRecord], record: LoopRecord) -> list[tuple[float, float]]:
    """Return the times in which Keras ran this loop: epochs without their validation and callbacks; none for an own loop."""
    kinds = {"fit": {"epoch"}, "evaluate": {"evaluate", "validation"}, "predict": {"predict"}}.get(
        record.label, set[str]()
    )
    own = [each for each in phases if each.process == record.process]
    spans: list[tuple[float, float]] = []
    for each in own:
        if each.kind in kinds:
            inner = [other.started_at for other in own if other.kind in INNER and other.started_at >= each.started_at]
            end = min([*inner, _end_of(each)]) if each.kind == "epoch" else _end_of(each)
            began = [
                _end_of(other)
                for other in own
                if other.kind == "epoch_begin" and each.started_at <= other.started_at < end
            ]
            spans.append((min([*began[:1], end]) if began else each.started_at, end))
    return spans


def _end_of(phase: PhaseRecord) -> float:
    return float("inf") if isinstance(phase.ended_at, Missing) else phase.ended_at


Counters = Sequence[tuple[float, float, float, float, float]]


def _stretches(counters: Counters, phases: Sequence[tuple[float, float]], record: LoopRecord) -> Iterator[Stretch]:
    if not phases:
        yield from _own(counters, record)
        return
    times = [each[0] for each in counters]  # in order: a day holds many readings, and many epochs
    for start, end in phases:
        first, last = bisect_right(times, start + READ_LATE_S), bisect_left(times, end)
        points = [(start, *(counters[first - 1][1:4] if first else (0.0, 0.0, 0.0)))]
        points += [each[:4] for each in counters[first:last]]
        if last < len(times) and times[last] <= end + READ_LATE_S:
            points.append((end, *counters[last][1:4]))
        yield from _between(points)


def _own(counters: Counters, record: LoopRecord) -> Iterator[Stretch]:
    """Cut a loop of the user's own at each reading. Where it ended before the reading, the mean moment of its steps tells when."""
    points = [(record.made_at, 0.0, 0.0, 0.0)]
    ends = 0.0
    for at, count, wait, inside, end in counters:
        steps, start = count - points[-1][1], points[-1][0]
        if steps > 0:
            middle = (end - ends) / steps
            real = at if end <= 0 else min(at, max(start, 2 * middle - start))
            points.append((real, count, wait, inside))
        ends = end
    yield from _between(points)


def _between(points: Sequence[tuple[float, float, float, float]]) -> Iterator[Stretch]:
    for before, after in itertools.pairwise(points):
        if after[1] > before[1]:
            yield Stretch(
                start=before[0],
                end=after[0],
                steps=round(after[1] - before[1]),
                wait_s=max(0.0, after[2] - before[2]),
                inside_s=max(0.0, after[3] - before[3]),
            )


def _window_times(session: Session, process: str) -> list[tuple[float, float]]:
    return [
        (each.started_at, each.ended_at)
        for each in session.windows
        if each.process == process and not isinstance(each.ended_at, Missing)
    ]


def _during(stretches: Sequence[Stretch], times: Sequence[tuple[float, float]]) -> tuple[Stretch, ...]:
    return tuple(each for each in stretches if overlap(times, each.start, each.end) > 0)


def _steady(stretches: tuple[Stretch, ...], session: Session, record: LoopRecord) -> tuple[tuple[Stretch, ...], bool]:
    """Return the stretches behind the warm-up: the first one is it, unless there is no other.

    A single stretch is kept, shortened by the tracing inside it, and counts as not set apart.
    """
    traces = tracing_times(session, record.process)
    if len(stretches) != 1:
        late = list(stretches[1:])
        if late and stretches[0].steps <= FIRST_STEPS:
            late[0] = _behind(traces, late[0])  # a reading fell between the first fetch and the tracing of its step
        return tuple(late), True
    only = stretches[0]
    traced = overlap(traces, only.start, only.end)
    kept = Stretch(
        start=min(only.start + traced, only.end),
        end=only.end,
        steps=only.steps,
        wait_s=only.wait_s,
        inside_s=only.inside_s,
    )
    return ((kept,) if kept.span_s > 0 else (only,)), False


def _behind(traces: Sequence[tuple[float, float]], stretch: Stretch) -> Stretch:
    """Return the stretch from the end of the last tracing in its first half on."""
    ends = [
        end
        for start, end in traces
        if stretch.start <= end < stretch.end and start < stretch.start + stretch.span_s / 2
    ]
    return replace(stretch, start=max(ends)) if ends else stretch


def tracing_times(session: Session, process: str) -> list[tuple[float, float]]:
    """Return when functions were traced, as times that do not overlap: a tracing holds those nested in it."""
    return merged(
        [
            (each.at - each.duration_s, each.at)
            for each in session.traces
            if each.process == process and each.kind == "function"
        ]
    )


def overlap(spans: Sequence[tuple[float, float]], start: float, end: float) -> float:
    """Return for how long the spans cover a time."""
    return sum(max(0.0, min(end, last) - max(start, first)) for first, last in spans)
