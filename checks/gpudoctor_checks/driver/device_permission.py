"""GD110: this user may not open the GPU, or the GPU's compute mode forbids it.

What it does
    Checks whether the user may read and write /dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm, and whether an
    administrator set the compute mode to "prohibited".

Why it matters
    The driver answers "no permission" or "no device", and TensorFlow trains on the CPU. As root everything works, which
    hides the fault. On clusters it is often meant: only a job that asked for a GPU may open one.

How to fix
    Under a scheduler: ask for a GPU with the job (srun --gres=gpu:1 ...). Else give the nodes back the driver's own
    default, read and write for all: sudo chmod a+rw /dev/nvidia*  It lasts until a reboot; to keep it, look which udev
    rule or module option (NVreg_DeviceFileMode) narrows it, or join the group that owns the nodes.
    Compute mode: sudo nvidia-smi -c DEFAULT; where another process has the GPU alone and most of its memory, wait for it
    or take another GPU instead. Training as root is no cure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    DeviceNode,
    Evidence,
    Finding,
    Fix,
    Gpus,
    Host,
    Kernel,
    NotApplicable,
    Nvml,
    Scheduler,
    Severity,
    Skip,
    Trial,
    check,
    either,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.driver.compute_mode import COMPUTE_DEFAULT, forbidden, make_way, occupied
from gpudoctor_checks.remedies import ask_scheduler, batch_scheduler

CARD = re.compile(r"/dev/nvidia\d+")
SHARED_NODES = frozenset({"/dev/nvidiactl", "/dev/nvidia-uvm"})  # every CUDA program opens both
OPEN_NODES = Fix(
    id="open-device-nodes",
    title="Open the GPU to users until the next reboot",
    action="command",
    text="sudo chmod a+rw /dev/nvidia*",
    gain=unblocks("a program must open these nodes"),
    risk="medium",
    effort_minutes=1,
)

KEEP_OPEN = Fix(
    id="keep-device-nodes-open",
    title="Keep it open after reboots",
    action="command",
    text="echo 'options nvidia NVreg_DeviceFileMode=0666' | sudo tee /etc/modprobe.d/nvidia-device-nodes.conf",
    gain=unblocks("the driver makes the nodes anew at each start"),
    risk="medium",
    effort_minutes=2,
)


@check(
    code="GD110",
    slug="device-permission",
    title="This user may not use the GPU",
    family="driver",
    cause="device-permission-mode",
)
def refused(
    kernel: Kernel | None,
    nvml: Nvml | None,
    gpus: Gpus | None,
    cuda: Cuda | None,
    host: Host | None,
    scheduler: Scheduler | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find closed nodes and a prohibiting compute mode; the kernel of a container may refuse for other reasons."""
    cu_init = either(cuda.cu_init, None) if cuda is not None else None
    modes = [either(gpu.compute_mode, "unknown") for gpu in gpus] if gpus is not None else []
    holders = occupied(gpus) if gpus is not None else ()
    prohibited = (gpus is not None and forbidden(gpus)) or bool(holders)
    nodes = either(kernel.device_nodes, None) if kernel is not None else None
    if nodes is None and cu_init != 0 and not prohibited:
        raise Skip("the device nodes are unknown")
    closed = [each for each in nodes or () if False in {either(each.readable, True), either(each.writable, True)}]
    told = (nvml is not None and either(nvml.status, "") == "no_permission") or (
        gpus is not None and len(gpus) > 0 and all(gpu.status == "no_permission" for gpu in gpus)
    )
    shut = cu_init != 0 and (_all_cards_closed(closed, nodes or ()) or told)
    if not shut and not prohibited:
        return
    if told and not closed and host is not None and either(host.container, "none") != "none":
        raise NotApplicable("a container that lost its permission: see GD107")
    weight = weigh_unusable(0.95 if closed or prohibited else 0.7, baseline)
    yield Finding(
        summary=f"The GPU takes one process, and process {holders[0].pid} has it ({modes[0]})."
        if holders
        else f"The GPU's compute mode is '{modes[0]}'."
        if prohibited
        else "This user may not open the GPU's device nodes.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *(
                Evidence(label=each.path, value=f"mode {either(each.mode, '?')}, closed", source="/dev")
                for each in closed
            ),
            Evidence(label="compute mode", value=", ".join(modes) or "unknown", source="NVML"),
            Evidence(label="cuInit", value="not asked" if cu_init is None else cu_init, source="libcuda"),
        ),
        fixes=make_way(gpus or (), holders) if holders else (COMPUTE_DEFAULT,) if prohibited else _open(scheduler),
    )


def _open(scheduler: Scheduler | None) -> tuple[Fix, ...]:
    """Return how closed nodes are opened: by a job where a scheduler hands them out."""
    kind = batch_scheduler(scheduler)
    return (ask_scheduler(kind),) if kind else (OPEN_NODES, KEEP_OPEN)


def _all_cards_closed(closed: list[DeviceNode], nodes: tuple[DeviceNode, ...]) -> bool:
    """Return whether no GPU can be opened: the control or uvm node is closed, or every card's own (a job may get one)."""
    shut = {each.path for each in closed}
    cards = {each.path for each in nodes if CARD.fullmatch(each.path)}
    return bool(shut & SHARED_NODES) or bool(cards and cards <= shut)
