"""GD114: the job scheduler granted no GPU here: a login node, or a job that asked for none.

What it does
    Reads the variables that Slurm, PBS, LSF, Grid Engine and Kubernetes set for a job, and looks whether a scheduler's
    commands are installed where no job runs. A job whose variables tell no GPU, and where CUDA finds none of those on
    the node (error 100), was most likely granted none: its cgroup hides them.

Why it matters
    On a cluster the GPUs belong to jobs. A login node has none, and inside a job without a GPU request they are hidden
    even where the node has eight. TensorFlow then trains on the CPU; driver, CUDA and packages are in order, and
    nothing that is installed on the node can change that.

How to fix
    Ask the scheduler. Slurm: srun --gres=gpu:1 --pty python train.py, or the line #SBATCH --gres=gpu:1. PBS: qsub -l
    select=1:ngpus=1. LSF: bsub -gpu "num=1". Kubernetes: resources.limits with nvidia.com/gpu: 1.
    Partition, account and the names of the GPU types are the site's: `sinfo -o "%P %G"` lists them for Slurm.
    Do not set CUDA_VISIBLE_DEVICES by hand inside a job; it belongs to the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import (
    Cuda,
    Driver,
    Evidence,
    Finding,
    Kernel,
    Scheduler,
    Severity,
    Skip,
    Trial,
    check,
    either,
    must_know,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuda_errors import NO_DEVICE
from gpudoctor_checks.presence import gpu_present
from gpudoctor_checks.remedies import ask_scheduler, under_scheduler

GRANTED_NONE = 0.95  # the scheduler's own variable says so
LOGIN_NODE = 0.8  # its commands are here, a job and a GPU are not; a cluster without GPUs looks the same
NOT_TOLD = 0.6  # a job whose variables do not name its GPUs
NAMES = {
    "slurm": "Slurm job",
    "pbs": "PBS job",
    "lsf": "LSF job",
    "sge": "Grid Engine job",
    "kubernetes": "Kubernetes pod",
}
HERE: dict[bool | None, str] = {True: "yes", False: "no", None: "unknown"}


@check(
    code="GD114",
    slug="scheduler-without-gpu",
    title="The job scheduler granted no GPU here",
    family="driver",
    cause="scheduler-no-gpu",
)
def granted_none(
    scheduler: Scheduler, driver: Driver | None, cuda: Cuda | None, kernel: Kernel | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Find a job without a GPU, and a login node; where a GPU is usable, the scheduler gave it or does not mind."""
    kind = must_know(scheduler.kind, "the job scheduler")
    login = kind == "none"
    name = either(scheduler.installed, "none") if login else kind
    granted = either(scheduler.allocated_gpus, None)
    if name not in NAMES or (granted is not None and granted > 0):
        return
    usable = either(driver.usable, None) if driver is not None else None
    if usable:
        return
    if usable is None and granted is None:
        raise Skip("whether there is a usable GPU here is unknown")
    present = gpu_present(driver, kernel)
    kept = under_scheduler(scheduler) and cuda is not None and either(cuda.cu_init, 0) == NO_DEVICE
    if granted is None and present and not kept:
        return  # a GPU is here that does not work: not the scheduler's doing, as far as can be seen
    weight = weigh_unusable(LOGIN_NODE if login else NOT_TOLD if granted is None else GRANTED_NONE, baseline)
    if granted is None and present:  # that CUDA fails does not tell who keeps it from the GPUs
        weight = replace(weight, confidence=min(weight.confidence, NOT_TOLD))
    yield Finding(
        summary=f"No {NAMES[name]} runs here, and there is no GPU: this looks like a login node."
        if login
        else f"This {NAMES[name]} was granted no GPU."
        if granted == 0
        else f"CUDA finds none of this node's GPUs, and this {NAMES[name]} tells of none that it was granted."
        if present
        else f"There is no GPU here, and this {NAMES[name]} does not tell of one.",
        severity=_gravity(granted, pod=kind == "kubernetes", present=bool(present)),
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="scheduler", value=name, source="PATH" if login else "environment"),
            Evidence(label="GPUs granted", value="no job" if login else _told(granted), source="environment"),
            Evidence(label="GPU on this node", value=HERE[present], source="PCI bus"),
        ),
        fixes=(ask_scheduler(name),),
    )


def _gravity(granted: int | None, *, pod: bool, present: bool) -> Severity:
    """Call a pod that tells nothing no trouble: most pods have no GPU and want none."""
    if granted is None and pod:
        return Severity.INFO
    return Severity.ERROR if present else Severity.WARNING


def _told(granted: int | None) -> str | int:
    return "not told" if granted is None else granted
