"""One examination: collect facts, run the trials that the checks ask for, and return the snapshot of both.

Whoever asks (scan, probe, env, bundle, log, the monitor) comes through `examine_here`; nothing here judges. An interrupt
cancels it: KeyboardInterrupt, raised at any moment, ends the children that were started and goes on to the caller.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from gpudoctor.collect.libraries import merge_loaded
from gpudoctor.collect.survey import Survey, look_at_gpus, look_at_link
from gpudoctor.collect.target import Target
from gpudoctor.diagnose.engine import plan_trials
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Probe
from gpudoctor.model.record import dataclass
from gpudoctor.model.snapshot import QUICK_HAS_NO_PROBE, Snapshot
from gpudoctor.model.software import TensorFlow
from gpudoctor.model.words import Level
from gpudoctor.redaction import Rewrite, redact, rewriter_of_this_machine

Judges = Sequence[AnyCheck] | Callable[[], Sequence[AnyCheck]]


class Events(Protocol):
    """Is told what happens; shows it or not."""

    def target(self, named: Mapping[str, str]) -> None:
        """Note which interpreter is examined and why, before anything is asked."""
        ...

    def trial(self, name: str, done: int, total: int, left_s: float) -> None:
        """Note that a trial starts, with the time that all remaining ones are expected to take."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to examine and how far to go. `trials` overrules what the checks ask for."""

    target: Target
    level: Level = "standard"
    root: Path = Path("/")
    timeout_s: float | None = None
    force: bool = False
    trials: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The snapshot, redacted unless identifiers were asked for, and the interpreter that was examined."""

    snapshot: Snapshot
    target: Mapping[str, str]


def examine_here(request: Request, checks: Judges, events: Events, *, identifiers: bool = False) -> Examined:
    """Examine this machine; `identifiers` keeps what tells a person or a machine. See `examine`."""
    rewrite: Rewrite = str if identifiers else rewriter_of_this_machine()
    named = {"executable": rewrite(str(request.target.executable)), "chosen_by": request.target.chosen_by}
    events.target(named)
    snapshot = examine(request, checks, events)
    return Examined(snapshot=snapshot if identifiers else redact(snapshot, rewrite=rewrite), target=named)


def examine(request: Request, checks: Judges, events: Events | None = None) -> Snapshot:
    """Return the snapshot: facts at every level, trials too unless the level is quick.

    `checks` may be a function that loads them: it is called while the sources answer, which takes about as long.
    """
    survey = Survey(level=request.level, target=request.target, root=request.root, timeout_s=request.timeout_s)
    try:
        selected = checks() if callable(checks) else checks
    except BaseException:
        survey.abandon()
        raise
    snapshot = survey.finish()
    if request.level == "quick":
        return _without_probe(snapshot, QUICK_HAS_NO_PROBE)
    if snapshot.tensorflow is not None and snapshot.tensorflow.installed is False:
        return _without_probe(snapshot, "not run: TensorFlow is not installed in the target environment")
    if os.name != "posix":
        return _without_probe(snapshot, "not run: the probe needs Linux, WSL2 or macOS")
    from gpudoctor.probe.plan import at_level  # noqa: PLC0415  # a quick scan must not pay for it
    from gpudoctor.probe.runner import run_probe  # noqa: PLC0415

    trials = request.trials if request.trials is not None else plan_trials(selected, frozenset(at_level(request.level)))
    if not trials:
        return _without_probe(snapshot, "not run: no selected check asks for a trial")
    probe = run_probe(
        str(request.target.executable),
        trials,
        snapshot=snapshot,
        level=request.level,
        force=request.force,
        watch_gpus=lambda: look_at_gpus(request.root),
        watch_link=lambda index: look_at_link(index, request.root),
        progress=events,
    )
    return with_probe(snapshot, probe)


def _without_probe(snapshot: Snapshot, why: str) -> Snapshot:
    return replace(snapshot, missing={**snapshot.missing, "probe": why})


def with_probe(snapshot: Snapshot, probe: Probe) -> Snapshot:
    """Return the snapshot with the probe's result, and with what only an import could tell."""
    libraries = None if snapshot.libraries is None else merge_loaded(snapshot.libraries, probe)
    tensorflow = None if snapshot.tensorflow is None else _imported(snapshot.tensorflow, probe)
    return replace(snapshot, probe=probe, libraries=libraries, tensorflow=tensorflow)


def _imported(tensorflow: TensorFlow, probe: Probe) -> TensorFlow:
    """Take what the children saw; with the GPU left alone on purpose, their count of GPUs says nothing."""
    child = next(iter(probe.children), None)
    if child is None:
        return tensorflow
    keras = tensorflow.keras_version if isinstance(child.keras_version, Missing) else child.keras_version
    visible = Missing(f"GPU left alone: {probe.gpu_left_alone}") if probe.gpu_left_alone else child.visible_gpus
    return replace(tensorflow, keras_version=keras, visible_gpus=visible, import_error=child.import_error)
