"""What Keras did around the steps: calls by line, epochs and their ends, tracings again and again, settings in force."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.model.missing import Missing
from gpudoctor.model.phases import CallGroup, Calls, Tracing, Tracings
from gpudoctor.model.run import Settings, Value
from gpudoctor.model.session import PhaseRecord, Session, StepSample, TraceRecord
from gpudoctor.model.words import PhaseKind
from gpudoctor.profile.steps import Loop

OUTER = ("fit", "evaluate", "predict")
MOST = 30
FEWEST_ENDS, ONCE = (
    3,
    0.25,
)  # policy: from three epochs on, what is less than a quarter of the longest end does not repeat it


def calls(session: Session, process: str) -> Calls:
    """Return Keras's phases of a process."""
    phases = [each for each in session.phases if each.process == process and not isinstance(each.ended_at, Missing)]
    groups: dict[tuple[PhaseKind, str, int], list[PhaseRecord]] = {}
    for each in phases:
        if each.kind in OUTER:
            groups.setdefault((each.kind, each.file, each.line), []).append(each)
    whole = _whole_s(session, process)
    epochs = [each for each in phases if each.kind == "epoch"]
    steady = epochs[1:] or epochs
    since = min((each.started_at for each in steady), default=0.0)
    inner = [each for each in phases if each.started_at >= since]
    ends_s = [_span(each) for each in inner if each.kind == "epoch_end"]
    stalled_s = _stall(ends_s)
    return Calls(
        groups=tuple(_group(key, members, session, process, whole) for key, members in list(groups.items())[:MOST]),
        epochs=len(epochs),
        steady_epochs=len(steady),
        epoch_s=sum(map(_span, steady)),
        epoch_end_s=sum(ends_s) - stalled_s + sum(_span(each) for each in inner if each.kind == "epoch_begin"),
        validation_s=sum(_span(each) for each in inner if each.kind == "validation"),
        stalled_s=stalled_s,
    )


def _stall(ends_s: Sequence[float]) -> float:
    """Return how long the one end of an epoch took that is longer than all others together by far, 0 where there is none.

    What comes again each epoch, or each few, is the callbacks'; what comes once is a stall (seen: 188 ms beside five of 1 ms,
    while a profiler session began).
    """
    longest = max(ends_s, default=0.0)
    others = sum(ends_s) - longest
    return longest if len(ends_s) >= FEWEST_ENDS and others < ONCE * longest else 0.0


def _span(phase: PhaseRecord) -> float:
    return 0.0 if isinstance(phase.ended_at, Missing) else phase.ended_at - phase.started_at


def _whole_s(session: Session, process: str) -> float:
    """Return the time from the process's first phase or step to its last."""
    moments = [each.started_at for each in session.phases if each.process == process]
    moments += [
        each.ended_at for each in session.phases if each.process == process and isinstance(each.ended_at, float)
    ]
    moments += [each.at for each in session.steps if each.process == process]
    return max(moments) - min(moments) if moments else 0.0


def _group(
    key: tuple[PhaseKind, str, int], members: Sequence[PhaseRecord], session: Session, process: str, whole: float
) -> CallGroup:
    kind, file, line = key
    total = sum(map(_span, members))
    labels = {"evaluate": {"evaluate"}, "predict": {"predict"}}.get(kind, {"fit"})
    loops = {
        each.loop for each in session.loops if each.process == process and each.label in labels and not each.replica
    }
    steps = _most(session.steps, process, loops)
    same = sum(1 for each in session.phases if each.process == process and each.kind == kind)
    return CallGroup(
        kind=kind,
        file=file,
        line=line,
        calls=len(members),
        models=len({each.subject for each in members}),
        steps=steps * len(members) / max(1, same),
        total_s=total,
        share=total / whole if whole > 0 else 0.0,
    )


def _most(samples: Sequence[StepSample], process: str, loops: set[int]) -> float:
    last: dict[int, int] = {}
    for each in samples:
        if each.process == process and each.loop in loops:
            last[each.loop] = max(each.count, last.get(each.loop, 0))
    return float(sum(last.values()))


def tracings(session: Session, process: str) -> Tracings:
    """Return the functions that were traced; tf.data's own are left out."""
    own = [each for each in session.traces if each.process == process and each.kind == "function"]
    groups: dict[tuple[str, str, int], list[TraceRecord]] = {}
    for each in own:
        groups.setdefault((each.name, each.defined_file, each.defined_line), []).append(each)
    again = _outermost([each for members in groups.values() for each in members[1:]])
    outer = {id(each) for each in again}
    functions = [_tracing(name, members, outer) for (name, _, _), members in groups.items()]
    whole = _whole_s(session, process)
    share = sum(each.duration_s for each in again) / whole if whole > 0 else 0.0
    ordered = sorted(functions, key=lambda each: -each.total_s)[:MOST]
    return Tracings(functions=tuple(ordered), share=min(1.0, share), whole_s=whole)


def _outermost(again: Sequence[TraceRecord]) -> list[TraceRecord]:
    """Return those that did not happen inside another one: its time holds theirs."""
    outer: list[TraceRecord] = []
    for each in sorted(again, key=lambda each: (each.at - each.duration_s, -each.at)):
        if not outer or each.at > outer[-1].at:
            outer.append(each)
    return outer


def _tracing(name: str, members: Sequence[TraceRecord], outer: set[int]) -> Tracing:
    reasons = tuple(dict.fromkeys(each.reason for each in members[1:] if each.reason))
    return Tracing(
        name=name,
        file=members[-1].file or members[-1].defined_file,
        line=members[-1].line or members[-1].defined_line,
        count=len(members),
        total_s=sum(each.duration_s for each in members[1:] if id(each) in outer),
        reasons=reasons[:5],
        rebuilt=any(each.reason.startswith("rebuilt") for each in members[1:]),
        users=_users(members[0].defined_file),
    )


def _users(file: str) -> bool:
    return bool(file) and "site-packages" not in file and "dist-packages" not in file and not file.startswith("<")


def settings(session: Session, loop: Loop | None, process: str) -> Settings | Missing:
    """Return what was in force in the process and in the model of its longest fit."""
    rows = [each for each in session.settings if each.process == process]
    if not rows:
        return Missing("no settings were recorded")
    outer = [each for each in session.phases if each.process == process and each.kind in OUTER and each.subject]
    subjects = [each.subject for each in rows if each.subject != "process"]
    subject = max(outer, key=_span).subject if outer else (subjects[0] if subjects else "")
    place = next((each for each in outer if each.subject == subject), None)
    return Settings(
        process={
            each.name: value for each in rows if each.subject == "process" and (value := _value(each.value)) is not None
        },
        model={
            each.name: value for each in rows if each.subject == subject and (value := _value(each.value)) is not None
        },
        file=place.file if place is not None else loop.record.file if loop is not None else "",
        line=place.line if place is not None else loop.record.line if loop is not None else 0,
    )


def _value(value: object) -> Value | None:
    if isinstance(value, tuple):
        return tuple(str(each) for each in value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value if isinstance(value, (str, int, float, bool)) else None
