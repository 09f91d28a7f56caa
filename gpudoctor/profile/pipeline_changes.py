"""What each change of the pipeline that applies would bring: a model of stages side by side, bounded by the step's own work.

A stage that takes t seconds a batch on p threads gives p/t batches a second, and m cores give no more than m/D steps a second
of D processor seconds each: the utilisation law and its bound (Denning and Buzen, The Operational Analysis of Queueing Network
Models, ACM Computing Surveys 10(3), 1978); Plumber (Kuchnik et al., MLSys 2022) plans pipelines by the same two. A step cannot
become shorter than what is left of it without the wait. Gains are ranges: up to all cores that the command may use, down to
those that other processes left it during the run, with a function that scales half way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.knowledge.shared_cores import left_of, relief_s
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import (
    Change,
    HotLine,
    HotLines,
    MachineOverTime,
    Needless,
    Pipeline,
    Settings,
    Stage,
    StepTimes,
)
from gpudoctor.model.words import ChangeKind
from gpudoctor.profile.caching import SCALES_AT_LEAST, cache
from gpudoctor.profile.element_calls import batch_first
from gpudoctor.profile.node_names import base_name
from gpudoctor.profile.pipeline_graph import READERS, SIDE_BY_SIDE

FLOOR = 0.02  # a step of nothing but waiting has a rest that no stamp resolves
# Measured: a prefetch brought 1.86x and 1.85x (within 0.06) where the model said 1.81x.
OFF_BY = 1.1
# Of np.random, random, a numpy Generator as it is usually named.
RANDOM = re.compile(r"random|\brng\b|shuffle|rand\w*$")
AT_WORK, AT_REST = ("numpy", "python", "tensorflow", "other"), ("wait", "io")  # activities of sampled lines
WORTH = 1.05  # a change whose best case brings less is not shown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """The step that the pipeline feeds: its time, and the least that it can become; what it may use.

    `free`: cores that others left. `work_s`: processor seconds of a step, 0 where they are not known. `relieved`: the least
    without Python of the pipeline's on the cores that compute the step.
    """

    step: float
    least: float
    relieved: float
    cores: float
    free: float
    work_s: float
    memory_bytes: int
    epochs: int

    def gain(self, stages: Sequence[Stage], at: int, batch_s: float, *, work_s: float = 0.0) -> float:
        """Return the speed-up when stage `at` takes that long: the slowest group sets the pace, or the step's own work.

        `work_s`: what the step still needs of the free cores together.
        """
        totals = [0.0]
        for place, each in enumerate(stages):
            totals[-1] += batch_s if place == at else each.batch_s
            if base_name(each.name) in SIDE_BY_SIDE:
                totals.append(0.0)
        return max(1.0, self.step / max(self.least, work_s / self.free, *totals))


def with_changes(
    found: Pipeline,
    times: StepTimes,
    machine: MachineOverTime | None,
    settings: Settings | None,
    epochs: int,
    *,
    lines: HotLines | None,
) -> Pipeline:
    """Return the pipeline with what would help and what would not."""
    step, wait = times.step_s, _wait(times)
    changes: list[Change] = []
    if not isinstance(step, Missing) and not isinstance(wait, Missing) and step > 0:
        on_cpu = settings is not None and settings.get("gpus") == 0
        least = max(step - wait, step * FLOOR)
        model = _Step(
            step=step,
            least=least,
            relieved=_relieved_s(found, lines, least) if on_cpu else least,
            cores=_cores(machine),
            free=_free(machine),
            work_s=step * either(machine.cores_used, 0.0) if machine is not None else 0.0,
            memory_bytes=either(machine.memory_total_bytes, 0) if machine is not None else 0,
            epochs=epochs,
        )
        first = batch_first(
            found.stages,
            step_s=step,
            least_s=model.least,
            alone=model.free / model.cores,
            on_cpu=on_cpu,
            seen=found.window_batches > 0,
        )
        others = _changes(found, model, lines, settings, trivial=first is not None)
        spread = [*([first] if first is not None else []), *(_spread(each, model) for each in others)]
        changes = [each for each in spread if each.high >= WORTH]
        most = max(step / model.relieved, first.high if first is not None else 0.0)
        without = step / model.least  # and what shares the step's cores or its interpreter goes, too, at best
        changes.append(Change(kind="perfect", low=without, high=most, basis="no step waits for data any more"))
    kept = [each for each in changes if each.kind != "cache"] if _random(lines) is not None else changes
    return replace(found, changes=tuple(kept), needless=tuple(_needless(found, settings, lines, changes)))


def _spread(change: Change, model: _Step) -> Change:
    """Widen a range by what the model is off, up to the bound."""
    bound = model.step / (model.relieved if change.kind == "tf_ops" else model.least)
    return replace(change, high=max(change.low, min(change.high * OFF_BY, bound)))


def _relieved_s(found: Pipeline, lines: HotLines | None, least_s: float) -> float:
    """Return what is left of the step, at least, without the slowest stage's Python beside it; all where that sleeps.

    Plain Python keeps the interpreter, for which each call of the step waits then: there is no telling how much of it that is.
    """
    slowest = found.slowest
    if slowest is None or not slowest.python:
        return least_s
    if lines is not None and lines.total("pipeline", *AT_WORK) < lines.total("pipeline", *AT_REST):
        return least_s
    plain = lines is not None and lines.total("pipeline", "python") > lines.total("pipeline", "numpy")
    calls = max(1.0, slowest.visits)
    return left_of(least_s, math.inf if plain else relief_s(calls, slowest.batch_s / calls))


def _wait(times: StepTimes) -> Maybe[float]:
    share = times.shares.input
    return share if isinstance(share, Missing) or isinstance(times.step_s, Missing) else share * times.step_s


def _cores(machine: MachineOverTime | None) -> float:
    if machine is None:
        return 1.0
    cores = float(either(machine.cores, 1))
    return max(1.0, min(cores, either(machine.usable_cores, cores), either(machine.quota_cores, cores)))


def _free(machine: MachineOverTime | None) -> float:
    """Return the cores that other processes left; all where nobody measured it."""
    cores = _cores(machine)
    return max(FLOOR, min(cores, either(machine.free_cores, cores))) if machine is not None else cores


def _changes(
    found: Pipeline, model: _Step, lines: HotLines | None, settings: Settings | None, *, trivial: bool
) -> Iterator[Change]:
    """Yield what applies to the slowest stage. `trivial`: its maps take longer to call than to run."""
    of_keras = any(each.python == "sequence" for each in found.stages)  # a PyDataset's prefetch is Keras's matter
    if found.prefetch == "none" and not of_keras:
        beside = model.step / max(model.least, model.step - model.least)
        yield Change(kind="prefetch", stage=0, high=beside, basis="fetching beside compute")
    slowest = found.slowest
    if slowest is None or isinstance(found.bottleneck, Missing):
        return
    at, stages, cores = found.bottleneck, found.stages, model.cores
    cost = f"{slowest.batch_s * 1000:.3g} ms a batch" if slowest.batch_s else "at an unknown cost"
    left = "" if f"{model.free:.1f}" == f"{cores:.1f}" else f", {model.free:.1f} of them free of other processes"
    spread = f"{cost} over {cores:g} cores{left}"
    best = model.gain(stages, at, slowest.batch_s / cores)
    if slowest.python:
        sure = SCALES_AT_LEAST * model.gain(stages, at, slowest.batch_s / max(1.0, model.free))
        low = max(1.0, sure) if slowest.batch_s else 1.0  # its cost is not known: a bound
        yield Change(kind="tf_ops", stage=at, low=low, high=model.step / model.relieved, basis=spread)
        if slowest.python == "sequence" and not slowest.parallel_asked:
            yield _workers(slowest, at, model, stages, lines)
    elif _serial_map(slowest):
        spread_s = slowest.batch_s / max(1.0, model.free * SCALES_AT_LEAST)
        known = slowest.batch_s and not trivial  # of trivial calls side by side 0.8 to 2.6 times came (measured)
        low = model.gain(stages, at, spread_s, work_s=model.work_s) if known else 1.0
        best = best if slowest.batch_s else min(best, cores)
        yield Change(kind="parallel_map", stage=at, low=low, high=best, basis=spread)
    elif base_name(slowest.name) in READERS:
        yield Change(kind="parallel_reads", stage=at, high=best, basis=spread)
    kept = cache(
        stages,
        at,
        step_s=model.step,
        least_s=model.least,
        epochs=model.epochs,
        memory_bytes=model.memory_bytes,
        settings=settings,
    )
    if kept is not None:
        yield kept


def _workers(stage: Stage, at: int, model: _Step, stages: Sequence[Stage], lines: HotLines | None) -> Change:
    """Return Keras's workers for a Sequence: threads where NumPy works, which lets go of the lock, else processes.

    Measured on two cores: NumPy in threads 1.05 to 1.63 times, in processes 0.58 to 1.15 (batches of 1.5 MB are copied
    between them); plain Python in threads 0.96 to 1.13, in processes 0.94 to 1.77. So nothing is sure of it.
    """
    numpy = lines.total("pipeline", "numpy") if lines is not None else 0.0
    python = lines.total("pipeline", "python") if lines is not None else 0.0
    best = model.gain(stages, at, stage.batch_s / model.cores, work_s=model.work_s) if stage.batch_s else model.cores
    kind: ChangeKind = "worker_threads" if numpy >= python else "worker_processes"
    cost = f"{stage.batch_s * 1000:.3g} ms a batch" if stage.batch_s else "at an unknown cost"
    return Change(kind=kind, stage=at, high=best, basis=f"{cost} over {model.cores:g} cores")


def _serial_map(stage: Stage) -> bool:
    serial = base_name(stage.name) in {"Map", "MapAndBatch", "Interleave", "map"} and stage.parallelism <= 1
    return serial and stage.made_by == "user" and not stage.parallel_asked


def _random(lines: HotLines | None) -> HotLine | None:
    """Return a line of the pipeline's own Python that was seen to draw random numbers."""
    own = lines.lines if lines is not None else ()
    return next((each for each in own if each.role == "pipeline" and RANDOM.search(each.leaf)), None)


def _needless(
    found: Pipeline, settings: Settings | None, lines: HotLines | None, offered: Sequence[Change]
) -> Iterator[Needless]:
    if found.prefetch == "tensorflow":
        yield Needless(what="prefetch", why="TF injected it")
    elif found.prefetch in {"user", "parallel output"}:
        why = "it is there" if found.prefetch == "user" else "the map already runs ahead"
        yield Needless(what="prefetch", why=why)
    python = next((each for each in found.stages if each.python == "python function"), None)
    random = _random(lines)
    if random is not None and any(each.kind == "cache" for each in offered):
        yield Needless(what="cache", why=f"{random.leaf}, line {random.line}, is random")
    if python is not None:
        name = (python.python_function or python.callee).rpartition(".")[2].strip("<>") or "the function"
        yield Needless(what=f"num_parallel_calls on {name}() as it stands", why="Python holds the GIL")
    elif any(
        base_name(each.name) == "ParallelMap" and each.tunable and each.made_by == "user" for each in found.stages
    ):
        yield Needless(what="num_parallel_calls", why="TF made the map parallel")
    if settings is not None and settings.get("gpus") == 0:
        yield Needless(what="mixed precision", why="no GPU at work")
