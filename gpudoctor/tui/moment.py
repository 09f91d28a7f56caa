"""A session as it was at a moment of it: what replays and scrubs. Pure.

Sums over the run (stack samples with their bursts, costs of the pipeline) exist once, at its end; they are shown with every
moment. What has one row that is updated (a loss) is shown from its last update on: before, its values are of the future.
"""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.session import NOT_RECORDED, Session


def as_of(session: Session, at_s: float) -> Session:
    """Return what had been recorded up to then; the whole session from its end on."""
    end = ended(session)
    if at_s >= end:
        return session
    iterators = tuple(each for each in session.iterators if each.at <= at_s)
    known = {(each.process, each.iterator) for each in iterators}
    return replace(
        session,
        outcome="running",
        exit_code=NOT_RECORDED,
        ended_at=NOT_RECORDED,
        heartbeat_at=at_s,
        processes=tuple(
            replace(each, ended_at=_then(each.ended_at, at_s)) for each in session.processes if each.started_at <= at_s
        ),
        phases=tuple(
            replace(each, ended_at=_then(each.ended_at, at_s)) for each in session.phases if each.started_at <= at_s
        ),
        windows=tuple(
            each for each in session.windows if each.started_at <= at_s and _then(each.ended_at, at_s) is each.ended_at
        ),
        loops=tuple(each for each in session.loops if each.made_at <= at_s),
        steps=tuple(each for each in session.steps if each.at <= at_s),
        traces=tuple(each for each in session.traces if each.at <= at_s),
        settings=tuple(each for each in session.settings if each.at <= at_s),
        iterators=iterators,
        pipeline_nodes=tuple(each for each in session.pipeline_nodes if (each.process, each.iterator) in known),
        memory=tuple(each for each in session.memory if each.at <= at_s),
        gpu_samples=tuple(each for each in session.gpu_samples if each.at <= at_s),
        host_samples=tuple(each for each in session.host_samples if each.at <= at_s),
        events=tuple(each for each in session.events if each.at <= at_s),
        messages=tuple(each for each in session.messages if each.at <= at_s),
        losses=tuple(each for each in session.losses if each.at <= at_s),
    )


def ended(session: Session) -> float:
    """Return when it ended, or was last written."""
    return session.heartbeat_at if isinstance(session.ended_at, Missing) else session.ended_at


def _then(end: Maybe[float], at_s: float) -> Maybe[float]:
    return NOT_RECORDED if isinstance(end, Missing) or end > at_s else end
