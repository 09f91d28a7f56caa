"""GD156: nvidia-smi in the text finds no device, although a driver answers it.

What it does
    Reads nvidia-smi's "No devices were found". NVML was loaded and spoke to the kernel module; it has no GPU to name. A job
    of a batch scheduler that the text shows, a container, and boards that the module refused are ranked.

Why it matters
    CUDA finds no device either. CUDA_VISIBLE_DEVICES has no part in it: nvidia-smi does not read it. Nor do CUDA's libraries
    or TensorFlow.

How to fix
    Under Slurm, PBS or LSF: ask for a GPU with the job. On a machine of your own the kernel log names why the module took no
    board: sudo dmesg | grep NVRM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpudoctor.sdk import OPEN, Finding, Fix, Host, Log, Scheduler, Trial, check, weigh_unusable
from gpudoctor_checks.driver.cuinit_events import LIKELY
from gpudoctor_checks.driver.gpu_not_taken import LOOK
from gpudoctor_checks.remedies import ask_scheduler, batch_scheduler, give_container_gpu
from gpudoctor_checks.said import container_of, events, log_finding, unproven


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Who may keep the boards from a driver that answers, how likely, and what decides it."""

    cause: str
    static: float
    summary: str
    fix: Fix
    know: str


@check(
    code="GD156",
    slug="no-devices-in-log",
    title="nvidia-smi in the text finds no device",
    family="driver",
    cause=("kernel-module-not-loaded", "scheduler-no-gpu", "container-no-gpu"),
    core=False,
)
def none_listed(log: Log, host: Host | None, scheduler: Scheduler | None, baseline: Trial | None) -> Iterator[Finding]:
    """Name who can keep the boards from a driver that answers."""
    found = events(log, "no_devices_listed")
    if found:
        keeps = _keeper(host, scheduler)
        weight = weigh_unusable(keeps.static, baseline)
        yield log_finding(keeps.summary, weight, found, keeps.fix, cause=keeps.cause, know=keeps.know)


def _keeper(host: Host | None, scheduler: Scheduler | None) -> Keeper:
    """Return who can keep the boards: a batch job and a container come before the machine itself."""
    if kind := batch_scheduler(scheduler):
        return Keeper(
            cause="scheduler-no-gpu",
            static=LIKELY,
            summary="The job was granted no GPU: nvidia-smi lists none in it.",
            fix=ask_scheduler(kind),
            know="nvidia-smi -L; env | grep -iE 'gpu|gres'",
        )
    if inside := container_of(host):
        return Keeper(
            cause="container-no-gpu",
            static=OPEN,
            summary="The container has the driver's libraries and no GPU.",
            fix=give_container_gpu(inside),
            know="nvidia-smi -L  # on the host, then in the container",
        )
    return Keeper(
        cause="kernel-module-not-loaded",
        static=OPEN,
        summary="The driver answers, but it has taken no GPU.",
        fix=unproven(LOOK, "names the reason; changes nothing"),
        know="sudo dmesg | grep NVRM; lspci | grep -i nvidia",
    )
