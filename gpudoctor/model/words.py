"""The closed vocabularies of the model: whoever reads or writes such a field knows all that it can say.

What another program words (NVML's status, a container's kind, the events of a log) stays plain text: a new word of theirs is
no error. A document with a word outside of these is refused when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeVar, get_args

Word = TypeVar("Word", bound=str)

Level = Literal["quick", "standard", "full"]
ReportLevel = Literal["quick", "standard", "full", "run", "none"]  # run: a recorded run was judged; none: nothing was
FailOn = Literal["error", "warning", "info", "never"]
Action = Literal["command", "diff", "setting", "manual"]
Risk = Literal["none", "low", "medium", "high"]

Processor = Literal["GPU", "CPU"]
TrialStatus = Literal[
    "ok", "unknown", "failed", "inconclusive", "refused", "unsupported", "crashed", "timeout", "oom"
]  # fmt: skip
ChildStatus = Literal["ok", "unknown", "crashed", "timeout", "import_failed", "not_started"]
Fate = Literal["ok", "crashed", "timeout", "import_failed", "not_started", "oom"]  # how a child of the probe ended

MigMode = Literal["disabled", "enabled"]
ComputeMode = Literal["default", "exclusive_thread", "exclusive_process", "prohibited"]
HolderKind = Literal["compute", "graphics"]
CudaOrigin = Literal["driver", "wsl", "compat", "stub", "container", "other"]
ModuleFlavour = Literal["open", "proprietary"]
SchedulerKind = Literal["none", "slurm", "kubernetes", "pbs", "lsf", "sge"]

BuildOrigin = Literal["official_wheel", "conda", "ngc", "source", "unknown"]
LibraryOrigin = Literal["wheel", "system", "conda", "ld_library_path", "driver", "toolkit"]

RunOutcome = Literal["running", "ended", "cut_short"]
ChangeKind = Literal[
    "tf_ops",
    "batch_first",
    "parallel_map",
    "worker_threads",
    "worker_processes",
    "prefetch",
    "cache",
    "parallel_reads",
    "perfect",
]
# How steps are counted: in a graph, in a tf.function's loop, in Python, by Keras's call, or by a part that the user's loop calls
StepKind = Literal["graph", "scan", "eager", "call", "function", "tape", "gradient", "update"]
PhaseKind = Literal["fit", "epoch", "epoch_begin", "epoch_end", "validation", "evaluate", "predict"]
TraceKind = Literal["function", "dataset"]
ThreadRole = Literal["main", "pipeline", "other"]
# What a check may say of a text alone: what it finds; a suspicion that only a run decides; nothing, for it goes by a date
OfText = Literal["finding", "suspicion", "nothing"]
FactGroup = Literal["machine", "library", "stack", "variable", "package"]  # stack: the packages TensorFlow is made of

WORDS: frozenset[str] = frozenset(
    word
    for vocabulary in (
        Level,
        ReportLevel,
        FailOn,
        Action,
        Risk,
        Processor,
        TrialStatus,
        ChildStatus,
        MigMode,
        ComputeMode,
        HolderKind,
        CudaOrigin,
        ModuleFlavour,
        SchedulerKind,
        BuildOrigin,
        LibraryOrigin,
        RunOutcome,
        ChangeKind,
        StepKind,
        PhaseKind,
        TraceKind,
        ThreadRole,
    )
    for word in get_args(vocabulary)
)


def word(text: str, vocabulary: Iterable[Word]) -> Word | None:
    """Return the text as a word of the vocabulary, None where it is none of it."""
    return next((each for each in vocabulary if each == text), None)
