"""A recorded session as the facts of a run. Pure: the same records always give the same facts.

Profiler windows come in as figures (`WindowShare`): whoever reads the traces need not be here.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import TEXT_END
from gpudoctor.model.run import Pipeline, Run, RunEvent, Settings, StepTimes
from gpudoctor.model.session import Session
from gpudoctor.profile import signals
from gpudoctor.profile.between import step_parts
from gpudoctor.profile.breakdown import WindowShare, step_times
from gpudoctor.profile.calls import calls, settings, tracings
from gpudoctor.profile.hot_lines import Read, hot_lines
from gpudoctor.profile.losses import loss
from gpudoctor.profile.over_time import machine_over_time, memory
from gpudoctor.profile.pipeline_changes import with_changes
from gpudoctor.profile.pipeline_graph import pipeline, rounds
from gpudoctor.profile.steps import Loop, main_loop

T = TypeVar("T")
LONGEST_SNIPPET = 160
UNCAUGHT = 1  # Python's exit code after an exception that nobody caught


def source_line(file: str, line: int, *, as_of: float = math.inf) -> str:
    """Return a line of a source file of this machine, '' where it cannot be read, or was written after that moment.

    The place of a line in a script that was edited since shows another one, and a diff of it is wrong.
    """
    try:
        changed = Path(file).stat().st_mtime > as_of
    except (OSError, ValueError):
        return ""
    return "" if changed else linecache.getline(file, line).strip()[:LONGEST_SNIPPET]


def analyse(session: Session, windows: Sequence[WindowShare] = (), read: Read | None = None) -> Run:
    """Return what the session shows. `read`: gives lines of the sources; those of this machine, as they were in the run."""
    loop = main_loop(session)
    read = partial(source_line, as_of=session.started_at) if read is None else read
    run = _frame(session, loop)
    if loop is None:
        return _without_steps(run)
    process = loop.record.process
    unknown: dict[str, str] = {}
    around = calls(session, process)
    force = _known(unknown, "settings", settings(session, loop, process))
    machine = _known(unknown, "machine", machine_over_time(session, loop))
    lines = _known(unknown, "hot_lines", hot_lines(session, loop, read))
    many = _per_execution(force)
    times = step_times(
        session, loop, lines=lines, machine=machine, calls=around, windows=windows, steps_per_execution=many
    )
    times = replace(times, run_s=_duration(session), parts=step_parts(session, loop))
    seen = tuple(each.pipeline for each in windows if each.pipeline is not None)
    found = _known(unknown, "pipeline", pipeline(session, loop, read, seen))
    return replace(
        run,
        limits=(*run.limits, *_unseen_costs(found, times)),
        steps=times,
        pipeline=None
        if found is None
        else with_changes(found, times, machine, force, rounds(session, loop, found, around.epochs), lines=lines),
        hot_lines=lines,
        settings=force,
        tracings=tracings(session, process),
        calls=around,
        machine=machine,
        memory=_known(unknown, "memory", memory(session, loop, process)),
        loss=_known(unknown, "loss", loss(session, loop)),
        unknown=unknown,
    )


def _known(unknown: dict[str, str], name: str, value: T | Missing) -> T | None:
    """Return the value; of a missing one keep the reason."""
    if isinstance(value, Missing):
        unknown[name] = value.reason
        return None
    return value


def _unseen_costs(found: Pipeline | None, times: StepTimes) -> tuple[str, ...]:
    """Return what is missing of a pipeline that matters: without it a slow stage that holds no Python has no name."""
    matters = times.input_class in {"moderately", "highly"}
    return (
        (f"what each stage of the tf.data pipeline costs: {found.unknown}",)
        if found and found.unknown and matters
        else ()
    )


def _frame(session: Session, loop: Loop | None) -> Run:
    chosen = [each for each in session.processes if loop is not None and each.process == loop.record.process]
    versions = chosen or [each for each in session.processes if not isinstance(each.tensorflow_version, Missing)]
    version = versions[0] if versions else None
    return Run(
        session=session.session,
        script=_script(session),
        command=session.command,
        executable=next((each.executable for each in (*versions, *session.processes) if each.executable), ""),
        chosen_by=session.chosen_by,
        outcome=session.outcome,
        exit_code=session.exit_code,
        signal=signals.ended_by(session),
        ended_by=_ended_by(session),
        duration_s=_duration(session) if not isinstance(session.ended_at, Missing) else Missing("it did not end"),
        hello=session.hello,
        trained=session.trained,
        tensorflow_version=version.tensorflow_version
        if version is not None
        else Missing("TensorFlow was not imported"),
        keras_version=version.keras_version if version is not None else Missing("Keras was not imported"),
        limits=tuple(dict.fromkeys(word for each in chosen for word in each.limits)),
        events=tuple(RunEvent(kind=each.kind, text=each.text) for each in session.events)[:50],
    )


def _ended_by(session: Session) -> str:
    """Return the last exception that was printed, where the command ended as Python does after one."""
    if session.exit_code != UNCAUGHT:
        return ""
    told = (each for each in session.messages if each.kind == TEXT_END and each.process != "stdout")
    return next((error for each in told if (error := each.details.get("last_error", ""))), "")


def _script(session: Session) -> str:
    """Return the command's script, module or program as a person would name it."""
    words = session.command
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words):
            return words[at + 1]
        if word.endswith((".py", ".sh", ".ipynb")):
            return word.rpartition("/")[2]
    return words[0].rpartition("/")[2] if words else "the command"


def _duration(session: Session) -> float:
    end = session.heartbeat_at if isinstance(session.ended_at, Missing) else session.ended_at
    return max(0.0, end - session.started_at)


def _without_steps(run: Run) -> Run:
    """Return what is known of a run in which no step was seen."""
    if not run.hello:
        why = "the agent did not get into any Python process of the command"
    elif isinstance(run.tensorflow_version, Missing):
        why = "TensorFlow was not imported yet" if run.outcome == "running" else "TensorFlow was never imported"
    else:
        why = "no training step was seen"
    groups = ("steps", "pipeline", "hot_lines", "settings", "tracings", "calls", "machine", "memory", "loss")
    return replace(run, unknown=dict.fromkeys(groups, why))


def _per_execution(force: Settings | None) -> int:
    value = None if force is None else force.get("steps_per_execution")
    return value if isinstance(value, int) and value > 1 else 1
