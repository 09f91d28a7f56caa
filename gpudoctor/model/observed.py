"""What was observed while something ran: the reference probe's trials and the events read from a run's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.missing import NOT_COLLECTED, Maybe
from gpudoctor.model.record import dataclass
from gpudoctor.model.words import ChildStatus, Processor, TrialStatus

STATED = "stated"  # the kind of the event that carries what was said and has no place of its own in the snapshot
EPOCH = "epoch"  # of fit()'s line
TEXT_END = "text_end"  # of the event that every text has: how long it was


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    """One typed event read from a run's text: what TensorFlow, CUDA or the kernel said.

    `kind` is a word of `gpudoctor.logs` (cuinit_failed, dlopen_failed, cudnn_loaded, gpu_skipped, ptx_jit, oom ...);
    `values` its fields as text (code, library, version ...); `line` 1-based; `count` equal events folded into one.
    """

    kind: str
    text: str = ""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    line: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The events of one text."""

    events: tuple[LogEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One arm of a trial: `step_s` is the mean step time after warm-up, over `steps` steps."""

    name: str
    steps: int = 0
    step_s: Maybe[float] = NOT_COLLECTED
    examples_per_s: Maybe[float] = NOT_COLLECTED
    loss_first: Maybe[float] = NOT_COLLECTED
    loss_last: Maybe[float] = NOT_COLLECTED
    peak_bytes: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Paired, interleaved ratio of two arms: `speedup` of `arm` over `against`, 95 % t-interval of the mean log-ratio."""

    arm: str
    against: str
    pairs: int
    speedup: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of one probe trial.

    `status`: also unknown (not recorded), failed (ran and showed a fault) and refused (GPU left alone). `device`: where the
    steps really ran. `values`: further figures with the unit in the name.
    """

    name: str
    status: TrialStatus = "ok"
    reason: str = ""
    device: Maybe[Processor] = NOT_COLLECTED
    device_name: Maybe[str] = NOT_COLLECTED
    duration_s: float = 0.0
    arms: tuple[Arm, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict[str, float])
    notes: tuple[str, ...] = ()

    def arm(self, name: str) -> Arm | None:
        """Return the arm of that name."""
        return next((arm for arm in self.arms if arm.name == name), None)

    def comparison(self, arm: str) -> Comparison | None:
        """Return the comparison whose faster-or-not arm has that name."""
        return next((each for each in self.comparisons if each.arm == arm), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLibrary:
    """A CUDA-related library that a probe child had mapped (`/proc/self/maps`)."""

    path: str
    soname: Maybe[str] = NOT_COLLECTED
    version: Maybe[str] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeChild:
    """One child process of the probe. `status`: also unknown (not recorded).

    `environment`: the set of variables it ran with (default, fragmentation); `events`: what its stderr said.
    """

    environment: str
    status: ChildStatus = "ok"
    reason: str = ""
    exit_code: Maybe[int] = NOT_COLLECTED
    import_s: Maybe[float] = NOT_COLLECTED
    import_error: Maybe[str] = NOT_COLLECTED
    tensorflow_version: Maybe[str] = NOT_COLLECTED
    keras_version: Maybe[str] = NOT_COLLECTED
    visible_gpus: Maybe[int] = NOT_COLLECTED
    duration_s: float = 0.0
    loaded: tuple[LoadedLibrary, ...] = ()
    events: tuple[LogEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """All that the reference probe showed. `gpu_left_alone`: why no load was put on the GPU ('' = it was used)."""

    trials: Mapping[str, Trial] = field(default_factory=dict[str, Trial])
    children: tuple[ProbeChild, ...] = ()
    gpu_left_alone: str = ""
    notes: tuple[str, ...] = ()
    duration_s: float = 0.0
