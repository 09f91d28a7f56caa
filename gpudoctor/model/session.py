"""What `gpudoctor run` recorded: one dataclass a table of the session file, field by field a column.

Times ending in `_at` are seconds since 1970 (`time.time()`) of one machine; counts and `_s` sums of a process only grow, so
that the difference of two rows is what happened between them. It would be handier to store step times; only sums survive
being read at any moment, and a difference of sums is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.sampled import Burst, StackLine, SyncRecord
from gpudoctor.model.told import LossRecord, MessageRecord
from gpudoctor.model.words import PhaseKind, RunOutcome, StepKind, TraceKind

NOT_RECORDED = Missing("not recorded")
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """One Python process of the command in which the agent ran; `process` names it in all other records.

    `forked`: made by fork from a process with the agent. `tensorflow_version` is missing where TensorFlow was never imported.
    `ended_at` is missing where it ended without running its exit handlers (killed, `os._exit`), or still runs.
    `stamps`: in_graph | none; `limits`: sentences about what the agent cannot see in this process.
    """

    process: str
    pid: int = 0
    ppid: int = 0
    argv: tuple[str, ...] = ()
    executable: str = ""
    python: str = ""
    folder: str = ""
    forked: bool = False
    started_at: float = 0.0
    hello_s: Maybe[float] = NOT_RECORDED
    tensorflow_version: Maybe[str] = NOT_RECORDED
    keras_version: Maybe[str] = NOT_RECORDED
    imported_at: Maybe[float] = NOT_RECORDED
    import_s: Maybe[float] = NOT_RECORDED
    ended_at: Maybe[float] = NOT_RECORDED
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRecord:
    """One place that fetches batches or runs steps.

    `label`: fit, evaluate, predict, train_on_batch, test_on_batch, predict_on_batch, or loop (the user's own).
    `kind`: graph (stamps in a traced function), scan (`for x in dataset` inside a tf.function), eager (timed in Python),
    call (a Keras `*_on_batch` call, timed in Python: it has no input wait, `inside_s` is the time in the calls), and function,
    gradient or update: a part of a step (`StepPartRecord`, "part 3" in `graph`) that trains and fetches nothing from tf.data; one
    loop may have several. Their `inside_s` is the time in all parts that the loop's thread has called.
    Loops of one `graph` and `label` with `replica` > 0 count the same steps as replica 0: take one. Several loops with the
    same `graph` and `replica` 0 (`steps_per_execution` > 1: first fetch, and fetches in the inner loop) add up.
    `overlaps`: fetches may run beside compute, so that `wait_s` is not usable; counts are.
    """

    process: str
    loop: int
    label: str = "loop"
    kind: StepKind = "graph"
    file: str = ""
    line: int = 0
    function: str = ""
    graph: str = ""
    replica: int = 0
    overlaps: bool = False
    made_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSample:
    """A loop's sums, read once a second and at every phase border. They only grow.

    `count` batches; `wait_s` seconds spent in fetching them; `end_sum_s` the sum over all batches of (end of fetch -
    `made_at` of the loop), so that between two samples the mean moment of a fetch is the difference of `end_sum_s` over that
    of `count`: slopes of these give step times without the error of the reading moment. `inside_s`: of calls and parts only.
    """

    process: str
    loop: int
    at: float
    count: int
    wait_s: Maybe[float] = NOT_RECORDED
    end_sum_s: Maybe[float] = NOT_RECORDED
    inside_s: Maybe[float] = NOT_RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPartRecord:
    """What one place in the user's code calls outside of all graphs, in a loop of its own. Counts and sums only grow.

    `kind`: function (a tf.function), tape (what runs under a `GradientTape`, without the other parts in it), gradient
    (`GradientTape.gradient`), update (an optimizer's). `holds`: of a function what was traced in it, "gradient update". `fed`:
    calls with a fetch from tf.data between them and the one before. `inside_s` is without the first call, which traces.
    """

    process: str
    part: int
    kind: StepKind = "function"
    name: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    holds: str = ""
    calls: int = 0
    fed: int = 0
    inside_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRecord:
    """A stretch of Keras's own: `kind` is fit, epoch, epoch_begin, epoch_end (its callbacks), validation, evaluate or predict.

    `number`: the epoch (0-based) for epoch and epoch_end, else 0. `subject` names the model in `settings`.
    """

    process: str
    phase: int
    kind: PhaseKind
    number: int = 0
    subject: str = ""
    file: str = ""
    line: int = 0
    started_at: float = 0.0
    ended_at: Maybe[float] = NOT_RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRecord:
    """One tracing of a function into a graph.

    `file`, `line`: the user's line that called; `defined_file`, `defined_line`: where the function stands. `reason`: what
    differs from the last type of the same function ("first", "shape of x (32,) -> (17,)", "rebuilt": a new function object
    from the same line). `graphs`: how many this function had before. `kind`: function, dataset (a tf.data function).
    """

    process: str
    at: float
    name: str
    kind: TraceKind = "function"
    file: str = ""
    line: int = 0
    defined_file: str = ""
    defined_line: int = 0
    duration_s: float = 0.0
    signature: str = ""
    reason: str = ""
    graphs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting as it is in force: `subject` is a model ("model 1: functional_3") or "process".

    Names for a model: jit_compile, run_eagerly, steps_per_execution, optimizer, optimizer_jit, loss_scale, dtype_policy,
    layer_policies, layers, recurrent, parameters. For the process: dtype_policy, floatx, strategy, replicas, eager_functions,
    debug_numerics, deterministic, xla_auto, gpus, visible_gpus, memory_growth, threads.
    """

    process: str
    subject: str
    name: str
    value: Plain | tuple[Plain, ...] = None
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call of a `tf.data.Dataset` method from the user's code: `site` numbers it, `inputs` are the sites it builds on, 0 for none.

    `callee` is the function passed (map, from_generator ...) and where it stands; `python_function`: py_function or
    numpy_function was called while it was traced, with that function's place in `python_file`, `python_line`.
    `arguments`: the plain ones (num_parallel_calls, batch_size, buffer_size ...); AUTOTUNE is -1. Beside them stands what is seen
    of the function: `random` of a map (its graph draws random numbers); of what Keras wraps `sequence` (the class's name in
    Keras), `workers` and `use_multiprocessing`.
    """

    process: str
    site: int
    method: str
    file: str = ""
    line: int = 0
    function: str = ""
    callee: str = ""
    callee_file: str = ""
    callee_line: int = 0
    python_function: str = ""
    python_file: str = ""
    python_line: int = 0
    arguments: Mapping[str, Plain] = field(default_factory=dict[str, Plain])
    inputs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IteratorRecord:
    """An iterator over a dataset. `site`: the last call site of its chain. `unknown`: why its graph cannot be read."""

    process: str
    iterator: int
    at: float = 0.0
    label: str = "loop"
    file: str = ""
    line: int = 0
    site: Maybe[int] = NOT_RECORDED
    unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineNode:
    """A node of tf.data's own model of an iterator (the optimised graph), as last polled.

    `processing_s` is own wall time without inputs, for all of `num_elements`. `parameters`: name -> [value, tunable].
    `parent` is the consuming node, -1 for the output.
    """

    process: str
    iterator: int
    node: int
    at: float = 0.0
    name: str = ""
    parent: int = -1
    num_elements: int = 0
    processing_s: float = 0.0
    buffered_elements: int = 0
    buffered_bytes: int = 0
    bytes_produced: int = 0
    parameters: Mapping[str, tuple[float, bool]] = field(default_factory=dict[str, tuple[float, bool]])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySample:
    """Memory of a process: `device` is GPU:0 ... (TensorFlow's allocator) or host (resident set; peak missing)."""

    process: str
    at: float
    device: str
    current_bytes: int = 0
    peak_bytes: Maybe[int] = NOT_RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSample:
    """A GPU, once a second, as NVML tells it. `foreign_processes`: compute processes outside the command."""

    at: float
    gpu: int
    name: Maybe[str] = NOT_RECORDED
    status: str = "ok"
    gpu_percent: Maybe[int] = NOT_RECORDED
    memory_percent: Maybe[int] = NOT_RECORDED
    memory_used_bytes: Maybe[int] = NOT_RECORDED
    memory_total_bytes: Maybe[int] = NOT_RECORDED
    power_w: Maybe[float] = NOT_RECORDED
    power_limit_w: Maybe[float] = NOT_RECORDED
    temperature_c: Maybe[int] = NOT_RECORDED
    sm_mhz: Maybe[int] = NOT_RECORDED
    sm_max_mhz: Maybe[int] = NOT_RECORDED
    throttle_reasons: Maybe[tuple[str, ...]] = NOT_RECORDED
    energy_j: Maybe[float] = NOT_RECORDED
    own_processes: Maybe[int] = NOT_RECORDED
    foreign_processes: Maybe[int] = NOT_RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSample:
    """The host, once a second. `command_*` is the command's whole process tree; sums only grow.

    `quota_cores` and `throttled_s` come from the control group. `usable_cores`: those that one of the command's processes may
    run on (taskset, a scheduler's cpuset).
    """

    at: float
    cpu_percent: Maybe[float] = NOT_RECORDED
    cores: Maybe[int] = NOT_RECORDED
    usable_cores: Maybe[int] = NOT_RECORDED
    quota_cores: Maybe[float] = NOT_RECORDED
    throttled_s: Maybe[float] = NOT_RECORDED
    memory_used_bytes: Maybe[int] = NOT_RECORDED
    memory_total_bytes: Maybe[int] = NOT_RECORDED
    io_wait_percent: Maybe[float] = NOT_RECORDED
    command_cpu_s: Maybe[float] = NOT_RECORDED
    command_rss_bytes: Maybe[int] = NOT_RECORDED
    command_read_bytes: Maybe[int] = NOT_RECORDED
    command_threads: Maybe[int] = NOT_RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """A stretch recorded with TensorFlow's profiler. `status`: ok, running, failed, refused; the trace is in the file.

    `profile.record.read_trace` returns its bytes (a serialised XSpace, gzip).
    """

    process: str
    window: int
    started_at: float = 0.0
    ended_at: Maybe[float] = NOT_RECORDED
    label: str = ""
    steps: int = 0
    status: str = "running"
    reason: str = ""
    trace_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened once. `process` is empty for events of the wrapper."""

    at: float
    kind: str
    process: str = ""
    text: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A whole recording.

    `outcome`: cut_short where the wrapper was killed before it could close the file. `exit_code` is the command's own
    (128+signal when killed by one). `nvml_status` is NVML's status word, `hello`: the agent ran in a Python process of the
    command; `trained`: it saw at least one step. `chosen_by`: what chose the interpreter, '' where the command named it.
    """

    schema_version: int
    session: str
    tool_version: str = ""
    command: tuple[str, ...] = ()
    folder: str = ""
    chosen_by: str = ""
    started_at: float = 0.0
    heartbeat_at: float = 0.0
    ended_at: Maybe[float] = NOT_RECORDED
    exit_code: Maybe[int] = NOT_RECORDED
    outcome: RunOutcome = "running"
    nvml_status: Maybe[str] = NOT_RECORDED
    processes: tuple[ProcessRecord, ...] = ()
    loops: tuple[LoopRecord, ...] = ()
    steps: tuple[StepSample, ...] = ()
    step_parts: tuple[StepPartRecord, ...] = ()
    phases: tuple[PhaseRecord, ...] = ()
    traces: tuple[TraceRecord, ...] = ()
    settings: tuple[Setting, ...] = ()
    call_sites: tuple[CallSite, ...] = ()
    iterators: tuple[IteratorRecord, ...] = ()
    pipeline_nodes: tuple[PipelineNode, ...] = ()
    stack_lines: tuple[StackLine, ...] = ()
    bursts: tuple[Burst, ...] = ()
    syncs: tuple[SyncRecord, ...] = ()
    memory: tuple[MemorySample, ...] = ()
    gpu_samples: tuple[GpuSample, ...] = ()
    host_samples: tuple[HostSample, ...] = ()
    windows: tuple[WindowRecord, ...] = ()
    events: tuple[Event, ...] = ()
    messages: tuple[MessageRecord, ...] = ()
    losses: tuple[LossRecord, ...] = ()

    @property
    def hello(self) -> bool:
        """Return whether the agent got into any Python process of the command."""
        return bool(self.processes)

    @property
    def trained(self) -> bool:
        """Return whether any step was seen."""
        return any(each.count > 0 for each in self.steps)
