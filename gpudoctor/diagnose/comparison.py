"""Two machines, or one at two times: which findings are new or gone, which versions differ, which trial takes longer.

Both snapshots are judged by today's checks: a report that an older gpudoctor wrote would differ by the checks, not the machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gpudoctor.diagnose.baseline import apply, fingerprint, renewed
from gpudoctor.model.finding import Finding
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.observed import Trial
from gpudoctor.model.report import Report
from gpudoctor.model.run import Run, StepTimes
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import FactGroup

# What TensorFlow and CUDA are made of: a step's time and a start that fails follow from these
STACK = re.compile(
    r"tensorflow(?:-.*)?|tf-(?:nightly|keras).*|keras(?:-nightly)?|numpy|protobuf|ml-dtypes|nvidia-.*|tensorrt.*"
)
LISTS: Mapping[FactGroup, str] = {
    "library": "libraries",
    "stack": "TensorFlow's and CUDA's packages",
    "variable": "env",
    "package": "other packages",
}
RUN = "run"  # stands for a trial where the step is that of a recorded training
OK = "ok"
NOT_RUN = "not run"
FAULTS = frozenset({"failed", "crashed", "timeout", "oom"})  # a trial that was ok and now ends so has got worse
SAME_BATCH = 0.05  # policy: a part of a batch at the end of each epoch is no other batch size


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact that differs; '' where one side does not name it. `group`: what kind of fact, in the order of what explains most."""

    name: str
    before: str
    after: str
    group: FactGroup = "machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """One arm of a trial on both sides; `ratio` is the step time after over that before: 1.1 is 10 % slower."""

    trial: str
    arm: str
    before_s: float
    after_s: float
    device_before: str
    device_after: str

    @property
    def ratio(self) -> float:
        """Return the step time after over that before."""
        return self.after_s / self.before_s


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """The steady step of two recorded trainings, and the shares of their epochs that callbacks at the ends take.

    `batch_ratio`: how many times as large a batch is in the second; 1 where it is not known. Steps of unlike batches pass no gate.
    """

    before: StepTimes
    after: StepTimes
    before_s: float
    after_s: float
    ends_before: float = 0.0
    ends_after: float = 0.0
    batch_ratio: float = 1.0

    @property
    def alike(self) -> bool:
        """Return whether a step is the same amount of data in both."""
        return abs(self.batch_ratio - 1) < SAME_BATCH

    @property
    def speedup(self) -> float:
        """Return the step time before over that after: 2.0 is twice as fast."""
        return self.before_s / self.after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialChange:
    """A trial that ended otherwise."""

    trial: str
    before: str
    after: str

    @property
    def worse(self) -> bool:
        """Return whether it worked before and shows a fault now."""
        return self.before == OK and self.after in FAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All differences, from the first machine to the second."""

    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    same: int
    facts: tuple[Fact, ...]
    paces: tuple[Pace, ...]
    trials: tuple[TrialChange, ...]
    with_trials: tuple[bool, bool]  # whether each side holds trials, or a recorded training, at all
    step: StepChange | None = None

    def regressions(self, percent: float) -> tuple[Pace, ...]:
        """Return the arms whose step takes more than so many percent longer."""
        return tuple(each for each in self.paces if each.ratio > 1 + percent / 100)

    @property
    def worse(self) -> tuple[TrialChange, ...]:
        """Return the trials that worked before and show a fault now."""
        return tuple(each for each in self.trials if each.worse)

    @property
    def comparable(self) -> bool:
        """Return whether the trials of both sides say anything about speed."""
        return bool(self.paces or self.worse)

    @property
    def why_not(self) -> str:
        """Return why nothing can be said about speed, '' where something can."""
        if self.comparable:
            return ""
        if self.step is not None:
            return "a batch of the one is not as large as of the other"
        return {
            (False, False): "neither of the two holds a trial of the reference network, or a recorded training",
            (True, False): "the second holds no trial of the reference network, and no recorded training",
            (False, True): "the first holds no trial of the reference network, and no recorded training",
            (True, True): "no trial measured a step in both, and no loop of the same kind",
        }[self.with_trials]


def compare(before: Report, after: Report) -> Comparison:
    """Return what changed from one report to the other."""
    known, now = ({_key(each) for each in report.findings} for report in (before, after))
    accepted = apply(after, renewed(before.findings)).findings  # the same measure of "new" as a baseline's
    new = tuple(each for each, judged in zip(after.findings, accepted, strict=True) if not judged.accepted)
    step = _step(before, after)
    return Comparison(
        new=new,
        gone=tuple(each for each in before.findings if _key(each) not in now),
        same=len((known & now) - {_key(each) for each in new}),
        facts=tuple(_different(before.snapshot, after.snapshot)),
        paces=(*_run_pace(step), *_paces(_trials(before), _trials(after))),
        trials=tuple(_ended_otherwise(_trials(before), _trials(after))),
        with_trials=(_told_of_speed(before), _told_of_speed(after)),
        step=step,
    )


def _step(before: Report, after: Report) -> StepChange | None:
    first, second = (None if each.snapshot.run is None else each.snapshot.run.steps for each in (before, after))
    if first is None or second is None or isinstance(first.step_s, Missing) or isinstance(second.step_s, Missing):
        return None
    alike = first.label == second.label  # not a fit with the evaluate that a run never left
    if not alike or min(first.step_s, second.step_s) <= 0:
        return None
    sizes = [_batch_bytes(each.snapshot.run) for each in (before, after)]
    ends = [_ends(each.snapshot.run) for each in (before, after)]
    return StepChange(
        before=first,
        after=second,
        before_s=first.step_s,
        after_s=second.step_s,
        ends_before=ends[0],
        ends_after=ends[1],
        batch_ratio=sizes[1] / sizes[0] if all(sizes) else 1.0,
    )


def _batch_bytes(run: Run | None) -> float:
    """Return how large a batch is, 0 where it is not known."""
    stages = run.pipeline.stages if run is not None and run.pipeline is not None else ()
    return stages[0].element_bytes if stages else 0.0


def _ends(run: Run | None) -> float:
    return 0.0 if run is None or run.calls is None else run.calls.epoch_end_share


def _run_pace(step: StepChange | None) -> Iterator[Pace]:
    """Yield the steady step as an arm of its own: the same gate holds for a training of one's own."""
    if step is not None and step.alike:
        first, second = ("CPU" if each.device_plane == "no device" else "GPU" for each in (step.before, step.after))
        yield Pace(
            trial=RUN,
            arm=step.after.label,
            before_s=step.before_s,
            after_s=step.after_s,
            device_before=first,
            device_after=second,
        )


def _told_of_speed(report: Report) -> bool:
    return bool(_trials(report)) or (report.snapshot.run is not None and report.snapshot.run.steps is not None)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.cause, fingerprint(finding)


def _different(before: Snapshot, after: Snapshot) -> Iterator[Fact]:
    for group, read in READERS.items():
        first, second = read(before), read(after)
        if first is None or second is None:  # a list that one side never took shows no difference of its entries
            known = [f"{len(each)} listed" if each else "" for each in (first, second)]
            if known[0] or known[1]:
                yield Fact(name=LISTS[group], before=known[0], after=known[1])
            continue
        for name in dict.fromkeys([*first, *second]):
            if first.get(name, "") != second.get(name, ""):
                yield Fact(name=name, before=first.get(name, ""), after=second.get(name, ""), group=group)


def _machine(snapshot: Snapshot) -> dict[str, str]:
    nvml, cuda, python, tensorflow, host = (
        snapshot.nvml, snapshot.cuda, snapshot.python, snapshot.tensorflow, snapshot.host,
    )  # fmt: skip
    rows: list[tuple[str, object]] = [
        ("GPUs", _named(snapshot)),
        ("driver", nvml and nvml.driver_version),
        ("CUDA of the driver", cuda and cuda.driver_api_version),
        ("NVML", nvml and nvml.status),
        ("cuInit", cuda and cuda.cu_init_name),
        ("TensorFlow", tensorflow and tensorflow.version),
        ("TensorFlow's CUDA", tensorflow and tensorflow.cuda_version),
        ("GPUs that TensorFlow lists", tensorflow and tensorflow.visible_gpus),
        ("Keras", tensorflow and tensorflow.keras_version),
        ("Python", python and python.version),
        ("container", host and host.container),
        ("kernel", host and host.kernel),
    ]
    return {name: str(value) for name, value in rows if _told(value)}


def _named(snapshot: Snapshot) -> str | None:
    if snapshot.gpus is None:
        return None
    return ", ".join(str(each.name) if _told(each.name) else "unknown" for each in snapshot.gpus) or "none"


def _libraries(snapshot: Snapshot) -> dict[str, str] | None:
    if snapshot.libraries is None:
        return None
    return {f"library {each.soname}": str(each.version) for each in snapshot.libraries if _told(each.version)}


def _variables(snapshot: Snapshot) -> dict[str, str] | None:
    return None if snapshot.env is None else {f"env {name}": value for name, value in sorted(snapshot.env.items())}


def _stack(snapshot: Snapshot) -> dict[str, str] | None:
    return _packages(snapshot, of_stack=True)


def _others(snapshot: Snapshot) -> dict[str, str] | None:
    return _packages(snapshot, of_stack=False)


def _packages(snapshot: Snapshot, *, of_stack: bool) -> dict[str, str] | None:
    if snapshot.packages is None:
        return None
    listed = sorted(snapshot.packages.items())
    return {f"package {name}": version for name, version in listed if bool(STACK.fullmatch(name)) == of_stack}


# In the order of what explains most; of a whole environment's packages most explain nothing
READERS: Mapping[FactGroup, Callable[[Snapshot], dict[str, str] | None]] = {
    "machine": _machine,
    "library": _libraries,
    "stack": _stack,
    "variable": _variables,
    "package": _others,
}


def _told(value: object) -> bool:
    return value is not None and not isinstance(value, Missing)


def _trials(report: Report) -> Mapping[str, Trial]:
    return report.snapshot.probe.trials if report.snapshot.probe is not None else {}


def _paces(before: Mapping[str, Trial], after: Mapping[str, Trial]) -> Iterator[Pace]:
    for name, first in before.items():
        second = after.get(name)
        if second is None or first.status != OK or second.status != OK:
            continue
        for arm in first.arms:
            other = second.arm(arm.name)
            if other is None or isinstance(arm.step_s, Missing) or isinstance(other.step_s, Missing):
                continue
            if arm.step_s > 0:
                yield Pace(
                    trial=name,
                    arm=arm.name,
                    before_s=arm.step_s,
                    after_s=other.step_s,
                    device_before=_word(first.device),
                    device_after=_word(second.device),
                )


def _word(value: Maybe[str]) -> str:
    return "?" if isinstance(value, Missing) else value


def _ended_otherwise(before: Mapping[str, Trial], after: Mapping[str, Trial]) -> Iterator[TrialChange]:
    for name in dict.fromkeys([*before, *after]):
        first, second = (side[name].status if name in side else NOT_RUN for side in (before, after))
        if first != second:
            yield TrialChange(trial=name, before=first, after=second)
