"""Run the reference probe: one child a set of environment variables, and every outcome a Trial.

After a crash or a hang the trials behind the culprit run once more in a fresh child. One would give each trial its own
process; TensorFlow's import is most of the probe's time, and a process more is one more context on the user's GPU.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpudoctor.model.gpu import Gpu, LinkSample
from gpudoctor.model.missing import either
from gpudoctor.model.observed import Probe, ProbeChild, Trial
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import Level
from gpudoctor.probe import busy, fragmentation_child, outcome, room
from gpudoctor.probe.attend import Limits, attend
from gpudoctor.probe.clock import Clock, Progress
from gpudoctor.probe.link import LinkWatch
from gpudoctor.probe.outcome import unrun
from gpudoctor.probe.plan import FRAGMENTATION_SET, LADDER_SET, PLANS, REPLICAS_SET, TrialPlan, chosen

KNOWN_TRIALS: tuple[str, ...] = tuple(plan.name for plan in PLANS)
CHILD = Path(__file__).with_name("child.py")
# Policy: the standard probe takes half a minute on two cores (measured: 17-30 s); six times that for a slow disk or XLA.
DEADLINE_S: Mapping[str, float] = {"standard": 180.0, "full": 900.0}
# Growth, so that the probe takes what it needs and not its whole cap; TensorFlow honours it together with a memory limit
# (gpu_bfc_allocator.cc reads the variable, gpu_device.cc the limit). Keras's other backends are not what is examined.
CHILD_ENVIRONMENT: Mapping[str, str] = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "KERAS_BACKEND": "tensorflow",
}
# Policy: a first import from a slow network drive took a minute in public reports; a warm one is 2-5 s (measured).
START_S = 120.0
HUNG_DRIVER_START_S = 30.0  # policy: on a node of 8 GPUs without persistence mode the driver takes about 10 s to start
# Without a GPU memory is counted in these two only, where the CPU is served by the GPU's kind of allocator.
SETS: Mapping[str, Mapping[str, str]] = {
    FRAGMENTATION_SET: fragmentation_child.ENVIRONMENT,
    LADDER_SET: fragmentation_child.ENVIRONMENT,
}
POOL_LIMIT = "TF_CPU_BFC_MEM_LIMIT_IN_MB"


@dataclass(slots=True)
class _Run:
    """One run of the probe on its way."""

    python: str
    choice: busy.Choice
    environment: Mapping[str, str]
    script: Path
    full: bool
    limits: Limits
    clock: Clock
    trials: dict[str, Trial] = field(default_factory=dict[str, Trial])
    children: list[ProbeChild] = field(default_factory=list[ProbeChild])
    link: LinkWatch = field(default_factory=LinkWatch)
    hopeless: str = ""  # why no further child is worth starting


def run_probe(
    target_python: str,
    trials: Sequence[str],
    *,
    snapshot: Snapshot | None = None,
    level: Level = "standard",
    force: bool = False,
    watch_gpus: Callable[[], Sequence[Gpu]] | None = None,
    watch_link: Callable[[int], LinkSample | None] | None = None,
    progress: Progress | None = None,
    environment: Mapping[str, str] | None = None,
    deadline_s: float | None = None,
    silence_s: float | None = None,
    cap_bytes: int | None = None,
    script: Path = CHILD,
) -> Probe:
    """Run these trials under the target interpreter and return all that they showed; raises KeyError for an unknown name.

    `snapshot` tells about GPUs, driver and scheduler; without one no GPU is known to be in use. `watch_gpus` reads the
    GPUs anew and is called for some seconds when one seems to work; `watch_link` reads the PCIe link of one GPU, while a
    trial moves data over it. `deadline_s` ends the whole probe, also a compilation
    of PTX, so a longer one extends that; `silence_s` overrules the limits of single trials.
    """
    begun = time.monotonic()
    plans = chosen(trials)
    variables = dict(os.environ if environment is None else environment)
    choice = _choose(snapshot or Snapshot(), variables, watch_gpus, force=force)
    if cap_bytes is not None:
        choice = replace(choice, cap_bytes=cap_bytes)
    run = _Run(
        python=target_python,
        choice=choice,
        environment=_pinned(variables, choice),
        script=script,
        full=level == "full",
        limits=Limits(
            deadline=begun + (_deadline_s(level) if deadline_s is None else deadline_s),
            start_s=_start_s(snapshot),
            silence_s=silence_s,
        ),
        clock=Clock(plans, progress),
        link=LinkWatch(choice.gpu, watch_link),
    )
    for name in dict.fromkeys(plan.environment for plan in plans):
        _run_set(run, name, [plan for plan in plans if plan.environment == name])
    return Probe(
        trials={plan.name: _completed(run, run.trials[plan.name]) for plan in plans},
        children=tuple(run.children),
        gpu_left_alone=choice.left_alone,
        notes=choice.notes,
        duration_s=time.monotonic() - begun,
    )


def _completed(run: _Run, trial: Trial) -> Trial:
    """Return the trial with what only the parent knows: the link as NVML showed it, the GPU's free memory."""
    figures: Mapping[str, float] = {}
    if trial.device == "GPU" and trial.name == "transfer":
        figures = run.link.figures()
    elif trial.device == "GPU" and trial.name == "batch_ladder":
        figures = room.figures(trial.values, run.choice.gpu)
    return replace(trial, values={**trial.values, **figures}) if figures else trial


def _deadline_s(level: Level) -> float:
    return DEADLINE_S["full" if level == "full" else "standard"]


def _start_s(snapshot: Snapshot | None) -> float:
    """Return how long a child may take to start: less where the driver hung already for the collector."""
    hung = snapshot is not None and snapshot.cuda is not None and snapshot.cuda.status == "timeout"
    return HUNG_DRIVER_START_S if hung else START_S


def _choose(
    snapshot: Snapshot, environment: Mapping[str, str], watch: Callable[[], Sequence[Gpu]] | None, *, force: bool
) -> busy.Choice:
    samples: list[Sequence[Gpu]] = [snapshot.gpus or ()]
    end = time.monotonic() + busy.WATCH_S
    while watch is not None and busy.needs_watching(samples) and time.monotonic() < end:
        time.sleep(busy.WATCH_STEP_S)
        samples.append(watch())
    host = snapshot.host
    around = busy.Around(
        environment=environment,
        cuda=snapshot.cuda,
        nvml=snapshot.nvml,
        scheduler=snapshot.scheduler,
        host_free_bytes=either(host.memory_available_bytes, 0) or None if host is not None else None,
    )
    return busy.choose(samples, around, force=force)


def _pinned(environment: Mapping[str, str], choice: busy.Choice) -> dict[str, str]:
    variables = {**environment, **CHILD_ENVIRONMENT}
    if choice.left_alone:
        variables["CUDA_VISIBLE_DEVICES"] = "-1"
    elif choice.pin:
        variables["CUDA_VISIBLE_DEVICES"] = choice.pin
    return variables


def _run_set(run: _Run, name: str, plans: Sequence[TrialPlan]) -> None:
    """Run the trials of one set of variables: one child, and one more for those behind a culprit."""
    waiting = list(plans)
    for _ in range(2):
        if not waiting or run.hopeless or time.monotonic() >= run.limits.deadline:
            break
        waiting = _run_child(run, name, waiting)
    why = run.hopeless or (
        "the probe's whole time is over" if time.monotonic() >= run.limits.deadline else "its children ended before it"
    )
    for plan in waiting:
        run.trials[plan.name] = unrun(plan.name, f"not run: {why}")


def _variables(run: _Run, name: str) -> dict[str, str]:
    """Return a child's environment; a pool that the user made smaller than the set's stays so."""
    variables = {**run.environment, **SETS.get(name, {})}
    smaller = run.environment.get(POOL_LIMIT, "")
    if POOL_LIMIT in SETS.get(name, {}) and smaller.isdecimal() and 0 < int(smaller) < int(variables[POOL_LIMIT]):
        variables[POOL_LIMIT] = smaller
    if name == REPLICAS_SET and not run.choice.left_alone:
        variables.update(_several(run.choice))
    return variables


def _several(choice: busy.Choice) -> dict[str, str]:
    """Return what shows all idle GPUs to a child, and none where only one may be used: two devices of the CPU do then."""
    return {"CUDA_VISIBLE_DEVICES": ",".join(choice.idle) if len(choice.idle) > 1 else "-1"}


def _run_child(run: _Run, name: str, plans: Sequence[TrialPlan]) -> list[TrialPlan]:
    """Run one child; return the trials that it did not come to."""
    spec = json.dumps(
        {
            "trials": [(plan.name, plan.limit_s) for plan in plans],
            "cap_bytes": run.choice.cap_bytes,
            "full": run.full,
            "several": name == REPLICAS_SET,
        }
    )
    run.clock.starts()
    ending = attend(
        lambda descriptor: (run.python, str(run.script), str(descriptor), spec),
        _variables(run, name),
        limits=run.limits,
        listen=run.clock.listen,
        watch=run.link.look,
    )
    trials = outcome.ended(ending, [plan.name for plan in plans])
    left = run.choice.left_alone
    run.children.append(outcome.as_child(ending, environment=name, left_alone=left, trials=trials))
    if ending.abandoned:
        run.hopeless = "a child is stuck in the driver and cannot be ended"
    if not trials and ending.fate != "ok":
        trials = {plan.name: outcome.unborn(plan.name, ending, first=plan is plans[0]) for plan in plans}
        run.hopeless = run.hopeless or f"{ending.fate}: {ending.reason}"
    for trial in trials.values():
        run.trials[trial.name] = outcome.as_refused(trial, left) if left else trial
    return [plan for plan in plans if plan.name not in trials]
