"""What the job scheduler granted here, from the variables that it sets for a job.

`allocated_gpus` counts what was granted on this node, not what was asked for in all: a job of 16 GPUs may own two here.
Where no variable tells, it is missing: a Slurm that does not manage GPUs looks the same as a job that was granted none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from gpudoctor.model.machine import Scheduler
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.words import SchedulerKind

NO_JOB = Missing("no job")
NOT_TOLD = Missing("no variable of this job tells its GPUs: none granted, or not managed by the scheduler")
# What submits a job: srun(1) of Slurm, qsub of PBS Professional and Grid Engine (which has qrsh beside it), bsub of LSF.
COMMANDS: tuple[tuple[SchedulerKind, str], ...] = (("slurm", "srun"), ("lsf", "bsub"), ("sge", "qrsh"), ("pbs", "qsub"))
NOTHING = frozenset({"", "(null)", "none", "void", "NoDevFiles", "NONE", "-1"})


def collect_scheduler(environ: Mapping[str, str] | None = None) -> Scheduler:
    """Return the scheduler and the number of GPUs granted on this node. Never raises."""
    environ = os.environ if environ is None else environ
    for kind, marker, sources in SCHEDULERS:
        if environ.get(marker):
            counts = (count(environ[name]) for name, count in sources if name in environ)
            granted = next((each for each in counts if each is not None), NOT_TOLD)
            return Scheduler(kind=kind, allocated_gpus=granted, job=environ[marker])
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return Scheduler(kind="kubernetes", allocated_gpus=_granted_to_pod(environ), job=NO_JOB)
    return Scheduler(kind="none", allocated_gpus=NO_JOB, job=NO_JOB, installed=_installed(environ.get("PATH", "")))


def _installed(path: str) -> SchedulerKind:
    folders = [folder for folder in path.split(os.pathsep) if folder]
    for kind, command in COMMANDS:
        if any(os.access(f"{folder}/{command}", os.X_OK) for folder in folders):
            return kind
    return "none"


def _granted_to_pod(environ: Mapping[str, str]) -> Maybe[int]:
    """NVIDIA's device plugin hands over the granted GPUs as UUIDs; "all" is what images preset and tells nothing."""
    granted = environ.get("NVIDIA_VISIBLE_DEVICES", "")
    if granted.startswith(("GPU-", "MIG-")):
        return len(granted.split(","))
    return 0 if granted in NOTHING - {""} else NOT_TOLD


def _number(text: str) -> int | None:
    """Read "2", "gpu:2" or "gpu:a100:2,gpu:t4:1"."""
    counts = [part.rpartition(":")[2] for part in text.strip().split(",")]
    return sum(int(count) for count in counts) if all(count.isdigit() for count in counts) else None


def _listed(text: str) -> int | None:
    """Count the entries of "0", "0,1", "0-3,6" or of UUIDs."""
    if text.strip() in NOTHING:
        return 0
    total = 0
    for part in text.strip().split(","):
        ends = re.fullmatch(r"(\d+)-(\d+)", part)
        total += int(ends[2]) - int(ends[1]) + 1 if ends else bool(part)
    return total


def _nothing(text: str) -> int | None:
    return 0 if text.strip() in NOTHING - {"", "-1"} else None  # what a user writes to hide a GPU is no grant


# Kind, the variable that marks a job, and those that tell its GPUs here, most exact first. From the manuals: Slurm
# srun(1) and gres.html, PBS Professional qsub, IBM LSF "environment variables", Grid Engine's gpu prologs.
SCHEDULERS: tuple[tuple[SchedulerKind, str, tuple[tuple[str, Callable[[str], int | None]], ...]], ...] = (
    (
        "slurm",
        "SLURM_JOB_ID",
        (
            ("SLURM_STEP_GPUS", _listed),
            ("SLURM_JOB_GPUS", _listed),
            ("SLURM_GPUS_ON_NODE", _number),
            ("CUDA_VISIBLE_DEVICES", _nothing),  # older releases write NoDevFiles there for a job without GPUs
        ),
    ),
    ("pbs", "PBS_JOBID", (("PBS_NGPUS", _number),)),
    ("lsf", "LSB_JOBID", ()),
    ("sge", "SGE_TASK_ID", (("SGE_GPU", _listed),)),
)
