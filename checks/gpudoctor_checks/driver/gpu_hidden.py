"""GD105: an environment variable hides the GPU from every program.

What it does
    Reads CUDA_VISIBLE_DEVICES as the driver reads it: a list of GPU numbers or UUIDs, which ends at the first entry
    that names no GPU of this machine. In a container it also reads NVIDIA_VISIBLE_DEVICES.

Why it matters
    CUDA_VISIBLE_DEVICES="" or "-1" hides all GPUs, and so does any value whose first entry is wrong: a number that is
    too high, a word, a UUID of another machine, one GPU named twice. There is no error; TensorFlow finds no GPU and
    trains on the CPU. Often the variable was set long ago in a shell profile, a notebook or a job script.

How to fix
    unset CUDA_VISIBLE_DEVICES, or name a GPU that exists: export CUDA_VISIBLE_DEVICES=0. Look for the line that sets
    it in ~/.bashrc, in the notebook (os.environ) and in the job script. Under a scheduler the variable is the
    scheduler's: ask for a GPU with the job instead of changing it. The driver and CUDA need no change.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Environment,
    Evidence,
    Finding,
    Fix,
    Gpus,
    Host,
    Inconclusive,
    Kernel,
    NotApplicable,
    Nvml,
    Scheduler,
    Severity,
    Trial,
    Weight,
    check,
    either,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.driver.visible_devices import NO_DEVICE, left_visible, uuids_of
from gpudoctor_checks.remedies import ask_scheduler, batch_scheduler, give_container_gpu, under_scheduler

NAME = "CUDA_VISIBLE_DEVICES"
UNHIDE = Fix(
    id="unset-cuda-visible-devices",
    title="Let programs see the GPU again",
    action="command",
    text=f"unset {NAME}",
    gain=unblocks("the GPU is hidden by this variable alone"),
    effort_minutes=1,
)

LOST = "unknown_error"  # NVML's answer in a container whose device cgroup was written anew: see GD107


@check(
    code="GD105",
    slug="gpu-hidden",
    title="An environment variable hides the GPU",
    family="driver",
    cause=("cuda-visible-devices", "container-no-gpu"),
)
def hidden(
    env: Environment,
    gpus: Gpus | None,
    nvml: Nvml | None,
    kernel: Kernel | None,
    cuda: Cuda | None,
    host: Host | None,
    scheduler: Scheduler | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Count the GPUs that the variable leaves, against those that exist."""
    uuids = uuids_of(gpus, nvml, kernel)
    container = either(host.container, "none") if host is not None else "none"
    cu_init = either(cuda.cu_init, -1) if cuda is not None else -1
    toolkit = env.get("NVIDIA_VISIBLE_DEVICES")
    if container != "none" and toolkit in {"void", "none"} and cu_init != 0:
        yield _kept_out(toolkit, container, baseline, severity=Severity.ERROR if uuids else Severity.INFO)
        return
    value = env.get(NAME)
    if value is None:
        return
    if uuids == ():
        raise NotApplicable("there is no GPU to hide")
    if uuids is None and cu_init != NO_DEVICE:
        raise Inconclusive(f"{NAME} is set, but how many GPUs there are is unknown")
    left = left_visible(value, uuids or (), cuda)
    if not left.stopped_at:
        return
    given = not _barred(container, cuda, nvml)
    weight = weigh_unusable(0.95 if uuids else 0.7, baseline)
    if left.count:
        weight = Weight(confidence=0.9, basis="the variable itself; the probe may train on a GPU that is left")
    yield Finding(
        summary=f"{NAME}={value!r} {left.in_words(given=given)}",
        severity=Severity.WARNING if left.count or not given else Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label=NAME, value=value, source="environment"),
            Evidence(label="the list ends at", value=left.stopped_at, source="CUDA Programming Guide"),
            Evidence(label="GPUs in this machine", value=len(uuids) if uuids else "unknown", source="NVML, PCI bus"),
            Evidence(label="GPUs left visible", value=left.count, unit="GPUs", source=NAME),
        ),
        fixes=(ask_scheduler(batch_scheduler(scheduler)),)
        if under_scheduler(scheduler) and not left.count
        else (UNHIDE,),
    )


def _barred(container: str, cuda: Cuda | None, nvml: Nvml | None) -> bool:
    """Return whether a container sees no GPU whatever the variable says: it has no libcuda, or lost its permission."""
    bare = cuda is not None and either(cuda.status, "") == "library_not_found"
    return container != "none" and (bare or (nvml is not None and either(nvml.status, "") == LOST))


def _kept_out(toolkit: str, container: str, baseline: Trial | None, *, severity: Severity) -> Finding:
    weight = weigh_unusable(0.9, baseline)
    return Finding(
        summary=f"NVIDIA_VISIBLE_DEVICES={toolkit} keeps the GPU out of this container.",
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(Evidence(label="NVIDIA_VISIBLE_DEVICES", value=toolkit, source="environment"),),
        fixes=(give_container_gpu(container),),
        cause="container-no-gpu",
    )
