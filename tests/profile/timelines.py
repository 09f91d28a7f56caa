"""Recorded and hand-made sessions: a loop of steps with phases and samples, and the recordings of `fixtures/timelines`."""

from __future__ import annotations

from pathlib import Path

from gpudoctor import codec
from gpudoctor.model.session import LoopRecord, PhaseRecord, ProcessRecord, Session, StepSample, TraceRecord
from gpudoctor.model.words import PhaseKind, StepKind

FOLDER = Path(__file__).parents[2] / "fixtures" / "timelines"
PROCESS = "7-1"
START = 1000.0


def recorded(name: str) -> Session:
    """Return a recording."""
    return codec.typed(codec.loads((FOLDER / f"{name}.json").read_bytes()), Session)


def loop(
    number: int = 0,
    *,
    label: str = "fit",
    kind: StepKind = "graph",
    graph: str = "train:1",
    replica: int = 0,
    overlaps: bool = False,
) -> LoopRecord:
    """Return a loop of train.py, line 9."""
    return LoopRecord(
        process=PROCESS,
        loop=number,
        label=label,
        kind=kind,
        file="train.py",
        line=9,
        graph=graph,
        replica=replica,
        overlaps=overlaps,
        made_at=START,
    )


def readings(*rows: tuple[float, int, float], number: int = 0) -> tuple[StepSample, ...]:
    """Return samples from (seconds after the start, steps so far, seconds waited so far)."""
    return tuple(
        StepSample(process=PROCESS, loop=number, at=START + at, count=count, wait_s=wait) for at, count, wait in rows
    )


def phase(number: int, kind: PhaseKind, start: float, end: float) -> PhaseRecord:
    """Return a phase in seconds after the start."""
    return PhaseRecord(
        process=PROCESS,
        phase=number,
        kind=kind,
        started_at=START + start,
        ended_at=START + end,
        file="train.py",
        line=9,
    )


def trace(start: float, end: float, name: str = "step") -> TraceRecord:
    """Return a tracing in seconds after the start."""
    return TraceRecord(process=PROCESS, at=START + end, name=name, duration_s=end - start, reason="first")


def session(
    *loops: LoopRecord,
    steps: tuple[StepSample, ...] = (),
    phases: tuple[PhaseRecord, ...] = (),
    traces: tuple[TraceRecord, ...] = (),
) -> Session:
    """Return a session of one process."""
    return Session(
        schema_version=1,
        session="made",
        command=("python", "train.py"),
        started_at=START - 5,
        ended_at=START + 60,
        exit_code=0,
        outcome="ended",
        processes=(ProcessRecord(process=PROCESS, tensorflow_version="2.21.0", keras_version="3.15.1"),),
        loops=loops,
        steps=steps,
        phases=phases,
        traces=traces,
    )
