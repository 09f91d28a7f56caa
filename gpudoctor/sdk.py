"""The one module that a check imports: declare a check, ask for facts by type, yield findings.

A check is a generator function of typed facts. Its parameters are its needs: a fact type, or the result of a probe
trial (annotated `Trial`, named like the trial and declared in `trials=`). `X | None` makes a need optional. Its module's
docstring is its page in `gpudoctor explain`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Generic, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from gpudoctor.knowledge import (
    causes,
    clock_events,
    cuda_toolkits,
    cudnn_releases,
    drivers,
    gpus,
    import_names,
    memory_pool,
    nvml_returns,
    shared_cores,
    tensorflow_releases,
    versions,
    xids,
)
from gpudoctor.model.finding import NEXT_STEP, TO_KNOW, Evidence, Finding, Fix, Gain, Grade, Location, Peak, Severity
from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.machine import (
    Cpu,
    Cuda,
    CudaDevice,
    DeviceNode,
    Host,
    Kernel,
    Nvml,
    PciGpu,
    Scheduler,
    Storage,
    XidEvent,
)
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.observed import STATED, TEXT_END, Arm, Comparison, Log, LogEvent, Probe, ProbeChild, Trial
from gpudoctor.model.phases import CallGroup, Calls, Tracing, Tracings
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import (
    HIGHLY,
    LEAST_END_S,
    MODERATELY,
    UNFETCHED,
    UNTIL_THE_END,
    Breakdown,
    Change,
    GpuOverTime,
    HotLine,
    HotLines,
    MachineOverTime,
    Pipeline,
    Run,
    Settings,
    Stage,
    StepPart,
    StepTimes,
)
from gpudoctor.model.shell import search_path, shell_path
from gpudoctor.model.software import Library, Python, TensorFlow
from gpudoctor.model.threshold import Limits, Threshold
from gpudoctor.model.trends import Memory, MemorySlope
from gpudoctor.model.views import Devices, Driver, Environment, Gpus, Libraries, Packages, cc_number
from gpudoctor.model.weight import BROKEN, OPEN, Weight, weigh_faulty, weigh_unusable
from gpudoctor.model.words import Action, OfText, Risk

__all__ = [
    "BROKEN",
    "HIGHLY",
    "LEAST_END_S",
    "MODERATELY",
    "NEXT_STEP",
    "OPEN",
    "STATED",
    "TEXT_END",
    "TO_KNOW",
    "UNFETCHED",
    "UNTIL_THE_END",
    "Action",
    "Arm",
    "Breakdown",
    "CallGroup",
    "Calls",
    "Change",
    "Check",
    "Comparison",
    "Cpu",
    "Cuda",
    "CudaDevice",
    "DeviceNode",
    "Devices",
    "Driver",
    "Environment",
    "Evidence",
    "Finding",
    "Fix",
    "Gain",
    "Gpu",
    "GpuOverTime",
    "GpuProcess",
    "Gpus",
    "Grade",
    "Host",
    "HotLine",
    "HotLines",
    "Inconclusive",
    "Kernel",
    "Libraries",
    "Library",
    "Limits",
    "Location",
    "Log",
    "LogEvent",
    "MachineOverTime",
    "Maybe",
    "Memory",
    "MemorySlope",
    "Missing",
    "Need",
    "NotApplicable",
    "Nvml",
    "Packages",
    "PciGpu",
    "Peak",
    "Pipeline",
    "Probe",
    "ProbeChild",
    "Python",
    "Risk",
    "Run",
    "Scheduler",
    "Settings",
    "Severity",
    "Skip",
    "Stage",
    "StepPart",
    "StepTimes",
    "Storage",
    "TensorFlow",
    "Threshold",
    "Tracing",
    "Tracings",
    "Trial",
    "Weight",
    "XidEvent",
    "causes",
    "cc_number",
    "check",
    "clock_events",
    "cuda_toolkits",
    "cudnn_releases",
    "drivers",
    "either",
    "gpus",
    "import_names",
    "memory_pool",
    "must_know",
    "nvml_returns",
    "search_path",
    "shared_cores",
    "shell_path",
    "shown",
    "tensorflow_releases",
    "unblocks",
    "versions",
    "weigh_faulty",
    "weigh_unusable",
    "xids",
]

P = ParamSpec("P")
T = TypeVar("T")
OF_A_RUN = frozenset({Calls, HotLines, MachineOverTime, Memory, Pipeline, Run, Settings, StepTimes, Tracings})


class Inconclusive(Exception):  # noqa: N818  # an outcome, not an error
    """Raised by a check: the evidence is there but does not allow a verdict."""


class Skip(Exception):  # noqa: N818  # an outcome, not an error
    """Raised by a check: a fact that it cannot do without is missing."""


class NotApplicable(Exception):  # noqa: N818  # an outcome, not an error
    """Raised by a check: what it looks for cannot be here (no container, no GPU of that kind). Counts as a pass."""


def must_know(value: T | Missing, what: str) -> T:
    """Return the value, or skip the check with the reason why it is missing."""
    if isinstance(value, Missing):
        message = f"{what} unknown: {value.reason}"
        raise Skip(message)
    return value


def shown(value: Maybe[str] | Maybe[float] | Maybe[int] | Maybe[bool], otherwise: str = "unknown") -> str | float:
    """Return the value as evidence shows it (an int or bool is a float to the type checker), or a word for a missing one."""
    return otherwise if isinstance(value, Missing) else value


def unblocks(basis: str = "") -> Gain:
    """Return the gain of a fix without which nothing works."""
    return Gain(grade=Grade.UNBLOCKS, basis=basis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One parameter of a check: a fact type or a probe trial, required or optional."""

    parameter: str
    fact: type
    optional: bool
    trial: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[P]):
    """A declared check. `core`: `healthy` may not be said where this check could not judge.

    `of_text`: what it may say where a text is all there is: a suspicion stands only where the text shows no trouble.

    `limits`: the thresholds in force, which the configuration moves by `replace`.
    """

    code: str
    slug: str
    title: str
    family: str
    causes: tuple[str, ...]
    judge: Callable[P, Iterator[Finding]]
    needs: tuple[Need, ...]
    trials: tuple[str, ...] = ()
    core: bool = True
    of_text: OfText = "finding"
    thresholds: tuple[Threshold, ...] = ()
    limits: Limits = Limits()

    @property
    def page(self) -> str:
        """Return the documentation page: the docstring of the check's module."""
        module = sys.modules.get(self.judge.__module__)
        return inspect.cleandoc(getattr(module, "__doc__", None) or "")

    @property
    def needs_text(self) -> bool:
        """Return whether it judges the text of a run and nothing else."""
        return any(need.fact is Log and not need.optional for need in self.needs)

    @property
    def needs_run(self) -> bool:
        """Return whether it judges a recorded run, and is not asked without one."""
        return any(need.fact in OF_A_RUN and not need.optional for need in self.needs)

    @property
    def needs_probe(self) -> bool:
        """Return whether no verdict is possible without a trial."""
        return any(need.trial and not need.optional for need in self.needs)


def check(
    *,
    code: str,
    slug: str,
    title: str,
    family: str,
    cause: str | tuple[str, ...],
    trials: tuple[str, ...] = ("baseline",),
    core: bool = True,
    of_text: OfText = "finding",
    thresholds: tuple[Threshold, ...] = (),
) -> Callable[[Callable[P, Iterator[Finding]]], Check[P]]:
    """Declare a generator function of facts as a check.

    A parameter annotated `Limits` holds the `thresholds` as the configuration has them. Raises TypeError when a
    parameter is neither a fact type nor a declared trial: a mistake of the author.
    """

    def declare(judge: Callable[P, Iterator[Finding]]) -> Check[P]:
        return Check(
            code=code,
            slug=slug,
            title=title,
            family=family,
            causes=(cause,) if isinstance(cause, str) else cause,
            judge=judge,
            needs=_needs_of(judge, trials),
            trials=trials,
            core=core,
            of_text=of_text,
            thresholds=thresholds,
        )

    return declare


def _needs_of(judge: Callable[..., Iterator[Finding]], trials: tuple[str, ...]) -> tuple[Need, ...]:
    code = judge.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    written = [_as_written(judge, name) for name in names]
    hints = {} if all(written) else get_type_hints(judge)
    return tuple(
        _need(judge.__name__, name, *(plain or _taken_apart(hints.get(name))), trials)
        for name, plain in zip(names, written, strict=True)
    )


def _as_written(judge: Callable[..., Iterator[Finding]], name: str) -> tuple[object, bool] | None:
    """Read `Fact` and `Fact | None` as they stand: evaluating them as typing does costs half of a check's loading."""
    text = judge.__annotations__.get(name)
    if not isinstance(text, str):
        return None
    fact, _, rest = text.partition(" | ")
    hint = judge.__globals__.get(fact)
    return (hint, bool(rest)) if isinstance(hint, type) and rest in {"", "None"} else None


def _taken_apart(hint: object) -> tuple[object, bool]:
    if get_origin(hint) not in {Union, UnionType}:
        return hint, False
    members = [each for each in get_args(hint) if each is not NoneType]
    return (members[0] if len(members) == 1 else hint), len(members) < len(get_args(hint))


def _need(owner: str, name: str, hint: object, optional: bool, trials: tuple[str, ...]) -> Need:
    if not isinstance(hint, type):
        message = f"{owner}: parameter {name!r} needs one fact type as its annotation, not {hint!r}"
        raise TypeError(message)
    if hint is Trial and name not in trials:
        message = f"{owner}: trial {name!r} is not declared; declared are {', '.join(trials) or 'none'}"
        raise TypeError(message)
    return Need(parameter=name, fact=hint, optional=optional, trial=name if hint is Trial else "")
