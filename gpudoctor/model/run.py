"""What a recorded run shows: facts that checks ask for by type, derived from `model.session` by `profile.timeline`.

Shares are of wall time (0-1) and say of what; a figure that the recording does not allow is Missing with the reason. The raw
records could be judged directly; then every check would decide anew what a step is, and two would disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.phases import Calls, Tracings
from gpudoctor.model.record import dataclass
from gpudoctor.model.trends import Loss, Memory
from gpudoctor.model.words import ChangeKind, RunOutcome, StepKind, ThreadRole

UNSEEN = Missing("not recorded")
COMMANDS_OWN = "the command's own"  # interpreter: the command names it, nobody chose
ON_PROFILED = " on the profiled steps"  # not on the steady ones, which the pipeline served at another pace
Value = str | int | float | bool | tuple[str, ...]
# XProf's classes of input-bound (openxla/xprof, op_stats_to_input_pipeline_analysis.cc), as shares of step time.
MODERATELY, HIGHLY = 0.05, 0.20
LEAST_END_S = 0.05  # policy: callbacks that take less at the end of an epoch are nobody's trouble
UNTIL_THE_END = (
    "until the data end"  # the setting `fit_steps` where fit was given no steps, and the data have no known number
)
UNFETCHED = frozenset({"call", "function", "gradient", "update"})  # kinds of steps that fetch nothing from tf.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Where the time of one steady step goes, as shares of it that add up to 1.

    `input`: waiting for data (on a GPU without a device plane an upper bound). `host`: the user's Python between and inside
    steps. `tracing`: building graphs. `compute`: inside TensorFlow, on whatever device. `device`: the part of it in which a
    device plane or NVML saw the GPU at work.
    """

    input: Maybe[float] = UNSEEN
    host: Maybe[float] = UNSEEN
    tracing: Maybe[float] = UNSEEN
    compute: Maybe[float] = UNSEEN
    device: Maybe[float] = UNSEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPart:
    """What a loop of the user's own calls outside of all graphs in its steps, and the share of its time that goes there.

    `kind`: function (a tf.function; `holds`: "gradient", "update" are inside), tape (work that a tape records), gradient, update.
    """

    kind: StepKind
    name: str = ""
    file: str = ""
    line: int = 0
    holds: tuple[str, ...] = ()
    per_step: float = 1.0
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The steady steps of the loop in which the run spent most of its time.

    `label`: fit, train_on_batch, loop (the user's own), evaluate, predict. `steps` are steady ones, `warm_up_steps` stand
    apart. `input_class`: not | moderately | highly | unknown. `methods`: stamps, window, or both; `agree` tells whether the
    two give one answer, `window_input_share` and `stamped_input_share`: the stamps' of all steady steps, or with
    `agree_elsewhere` of the profiled ones alone, which the pipeline served at another pace. `device_plane`: seen | closed |
    not recorded | no device. `confidence` (0-1) of the shares, `basis`. Where no step fetches from tf.data (`kind` call, function,
    gradient, update) the two tell of the user's own Python between TensorFlow's calls: `window_host_share`, `stamped_host_share`.
    `parts` of a loop of the user's own are called outside of all graphs.
    """

    label: str
    kind: StepKind = "graph"
    file: str = ""
    line: int = 0
    steps: int = 0
    warm_up_steps: int = 0
    step_s: Maybe[float] = UNSEEN
    wait_s: Maybe[float] = UNSEEN
    shares: Breakdown = field(default_factory=Breakdown)
    input_class: str = "unknown"
    methods: tuple[str, ...] = ()
    window_input_share: Maybe[float] = UNSEEN
    stamped_input_share: Maybe[float] = UNSEEN
    window_host_share: Maybe[float] = UNSEEN
    stamped_host_share: Maybe[float] = UNSEEN
    agree: Maybe[bool] = UNSEEN
    agree_elsewhere: bool = False
    device_plane: str = "not recorded"
    confidence: float = 0.0
    basis: str = ""
    steps_per_execution: int = 1
    loop_s: float = 0.0
    run_s: float = 0.0
    parts: tuple[StepPart, ...] = ()

    @property
    def host_bound(self) -> bool:
        """Return whether Python outside of TensorFlow, by XProf's class of time that is neither, holds the steps more than input."""
        host, wait = self.shares.host, self.shares.input
        if isinstance(host, Missing) or host < HIGHLY or self.input_class == "highly":
            return False
        return isinstance(wait, Missing) or host > wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One node of the optimised tf.data graph, with its place in the user's code (`line` 0: not the user's).

    `callee` is what the call names; `python_function` what that calls back (numpy_function, py_function), where it does.

    `cost_s`: own wall time for one element; `visits`: elements for one batch; `batch_s`: what it adds to a batch, with its
    parallelism. `python`: its function holds the GIL (python function, generator, sequence: Keras's). `made_by`: user, tensorflow
    (injected or made parallel by itself) or library. `parallel_asked`: the user's call names num_parallel_calls; of a
    sequence, workers. `random`: its function of TensorFlow's draws random numbers.
    """

    name: str
    method: str = ""
    file: str = ""
    line: int = 0
    callee: str = ""
    callee_file: str = ""
    callee_line: int = 0
    made_by: str = "user"
    python: str = ""
    python_function: str = ""
    parallelism: float = 1.0
    tunable: bool = False
    parallel_asked: bool = False
    elements: int = 0
    visits: float = 1.0
    cost_s: float = 0.0
    batch_s: float = 0.0
    buffered: int = 0
    element_bytes: float = 0.0
    random: Maybe[bool] = UNSEEN
    snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of the pipeline that applies here, with the speed-ups that it would bring to a step; perfect is the bound."""

    kind: ChangeKind
    stage: int = -1
    low: float = 1.0
    high: float = 1.0
    basis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needless:
    """Advice that would bring nothing here: what, and why not."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The input pipeline of the main loop: stages from the output down, and the one that holds the others up.

    `batch_s`: time a batch takes, the slowest of the stages that run side by side. `needless`: advice that would bring nothing
    here. `window_batches`: of how many batches in profiler windows the costs are means, 0 where tf.data's own model tells them.
    """

    source: str = ""
    file: str = ""
    line: int = 0
    stages: tuple[Stage, ...] = ()
    bottleneck: Maybe[int] = UNSEEN
    batch_s: Maybe[float] = UNSEEN
    prefetch: str = "unknown"
    changes: tuple[Change, ...] = ()
    needless: tuple[Needless, ...] = ()
    unknown: str = ""
    window_batches: int = 0

    @property
    def slowest(self) -> Stage | None:
        """Return the stage that holds the others up."""
        return None if isinstance(self.bottleneck, Missing) else self.stages[self.bottleneck]


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLine:
    """A line of the user's code. `share`: of the sampled time. `role`: main or pipeline.

    `activity`: numpy, python, io, sync, wait, tensorflow_wait, tensorflow. `leaf`: the innermost function.
    """

    file: str
    line: int
    function: str
    role: ThreadRole
    activity: str
    leaf: str
    share: float
    snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A line that asked for a tensor's value: how often in a step, and the share of the loop's time that it waited."""

    file: str
    line: int
    per_step: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLines:
    """Lines by share, largest first; `sampled_s` is how long stacks were sampled in all.

    `blocked`: lines that asked for a tensor's value, the longest wait first.
    """

    lines: tuple[HotLine, ...] = ()
    sampled_s: float = 0.0
    blocked: tuple[Blocked, ...] = ()

    def total(self, role: ThreadRole, *activities: str) -> float:
        """Return the share of these activities in a role."""
        return sum(each.share for each in self.lines if each.role == role and each.activity in activities)

    def hottest(self, role: ThreadRole, *activities: str) -> tuple[HotLine, ...]:
        """Return the rows of these activities in a role, those of the line that takes most in all first, largest first."""
        rows = [each for each in self.lines if each.role == role and each.activity in activities]
        lines: dict[tuple[str, int], float] = {}
        for each in rows:
            lines[each.file, each.line] = lines.get((each.file, each.line), 0.0) + each.share
        return tuple(sorted(rows, key=lambda each: (-lines[each.file, each.line], each.file, each.line, -each.share)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was in force: of the process, and of the model of the main loop. Values are text, numbers, or lists of text."""

    process: Mapping[str, Value] = field(default_factory=dict[str, Value])
    model: Mapping[str, Value] = field(default_factory=dict[str, Value])
    file: str = ""
    line: int = 0

    def get(self, name: str) -> Value | None:
        """Return the model's setting, else the process's, None where neither is known."""
        return self.model.get(name, self.process.get(name))

    def number(self, name: str) -> float:
        """Return a numeric setting, 0 where it is not known."""
        value = self.get(name)
        return float(value) if isinstance(value, (int, float)) else 0.0

    def on(self, name: str) -> bool:
        """Return whether a switch is on."""
        return self.get(name) is True


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuOverTime:
    """One GPU while the steady steps ran: means, and the share of samples in which its clocks were held down."""

    index: int
    name: Maybe[str] = UNSEEN
    busy_share: Maybe[float] = UNSEEN
    memory_peak_bytes: Maybe[int] = UNSEEN
    memory_total_bytes: Maybe[int] = UNSEEN
    power_w: Maybe[float] = UNSEEN
    power_limit_w: Maybe[float] = UNSEEN
    temperature_c: Maybe[int] = UNSEEN
    sm_mhz: Maybe[float] = UNSEEN
    sm_max_mhz: Maybe[int] = UNSEEN
    throttled_share: Maybe[float] = UNSEEN
    throttle_reasons: tuple[str, ...] = ()
    own_processes: Maybe[int] = UNSEEN
    foreign_processes: Maybe[int] = UNSEEN
    joules_per_step: Maybe[float] = UNSEEN
    energy_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineOverTime:
    """GPUs and host while the steady steps ran. `stopped_share`: of the time, that the CPU quota stood the command still.

    `cores` are the machine's, `usable_cores` those that the command may run on, `free_cores` what other processes left of
    them on the mean, the command's own use included.
    """

    gpus: tuple[GpuOverTime, ...] = ()
    nvml_status: str = "unknown"
    cores: Maybe[int] = UNSEEN
    quota_cores: Maybe[float] = UNSEEN
    cores_used: Maybe[float] = UNSEEN
    usable_cores: Maybe[int] = UNSEEN
    free_cores: Maybe[float] = UNSEEN
    stopped_share: Maybe[float] = UNSEEN
    io_wait_share: Maybe[float] = UNSEEN
    read_bytes_per_s: Maybe[float] = UNSEEN
    memory_total_bytes: Maybe[int] = UNSEEN

    def held(self, settings: Settings | None) -> tuple[GpuOverTime, ...]:
        """Return the GPUs that the run's processes held, as far as it is known: only these say something of the run.

        NVML's process list comes first. Where it shows none of ours (another PID namespace), TensorFlow's own word decides.
        """
        if any(not isinstance(each.own_processes, Missing) and each.own_processes > 0 for each in self.gpus):
            return tuple(
                each for each in self.gpus if isinstance(each.own_processes, Missing) or each.own_processes > 0
            )
        without = settings is not None and settings.get("gpus") is not None and settings.number("gpus") == 0
        return () if without else self.gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """Something that happened once while the run was recorded: `kind` is a word of the recording, `text` what was said."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A recorded run. `limits`: what the recording could not see, as sentences.

    `executable`: the interpreter that trained, '' where none was seen; `chosen_by`: what chose it, '' for the command itself.
    `signal`: the name of the one that ended the command (`exit_code` is then 128 + its number), '' where it ended by itself.
    `ended_by`: the exception that nobody caught, as printed, '' where none was seen. A group that is None is
    unknown; `unknown` gives its reason by name.
    """

    session: str = ""
    script: str = ""
    command: tuple[str, ...] = ()
    executable: str = ""
    chosen_by: str = ""
    outcome: RunOutcome = "ended"
    exit_code: Maybe[int] = UNSEEN
    signal: str = ""
    ended_by: str = ""
    duration_s: Maybe[float] = UNSEEN
    hello: bool = False
    trained: bool = False
    tensorflow_version: Maybe[str] = UNSEEN
    keras_version: Maybe[str] = UNSEEN
    limits: tuple[str, ...] = ()
    events: tuple[RunEvent, ...] = ()
    steps: StepTimes | None = None
    pipeline: Pipeline | None = None
    hot_lines: HotLines | None = None
    settings: Settings | None = None
    tracings: Tracings | None = None
    calls: Calls | None = None
    machine: MachineOverTime | None = None
    memory: Memory | None = None
    loss: Loss | None = None
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def held_by_ends(self) -> float:
        """Return the share of the epochs that callbacks at their ends take, where nothing in the steps takes as much; else 0."""
        calls, steps = self.calls, self.steps
        if calls is None or steps is None or calls.epoch_end_s < LEAST_END_S * calls.steady_epochs:
            return 0.0
        share = calls.epoch_end_share
        inside = max(either(steps.shares.input, 0.0), either(steps.shares.host, 0.0)) * (1 - share)
        return share if share >= HIGHLY and share > inside else 0.0
