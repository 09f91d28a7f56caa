"""GD751: the log shows several GPUs that cannot talk to each other.

What it does
    Reads DMA faults of the kernel, NCCL's errors, and a text that ends right after NCCL was chosen for the reduction.

Why it matters
    With the IOMMU on, peer-to-peer transfers between GPUs are turned away, and NCCL waits for ever: the first step never
    ends, with GPUs at 0 or 100 %.

How to fix
    NCCL_P2P_DISABLE=1 shows at once whether it is that, and lets training run. The lasting cure is to switch IOMMU
    translation or ACS off. Batch size and memory have no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Gpus, Log, LogEvent, Trial, check, versions
from gpudoctor_checks.said import by_hand, command, events, log_finding, stated, weigh_program

LINES_AFTER = 12  # policy: a step that ends prints more than this after NCCL was chosen
HANGS_BEFORE = "2.3.7"  # NCCL release notes 2.3.7: bootstrap hang through reused sockets fixed
NO_P2P = command(
    "nccl-p2p-off",
    "Try without peer-to-peer; then IOMMU off",
    "export NCCL_P2P_DISABLE=1  # if it runs now: disable IOMMU (VT-d, AMD-Vi) or ACS in the BIOS",
    why="transfers then go through host memory",
    minutes=1,
)
NO_IOMMU = by_hand(
    "iommu-off",
    "Disable IOMMU translation or ACS",
    "Disable VT-d/AMD-Vi (or ACS) in the BIOS, or boot with iommu=pt; then peer-to-peer works",
    why="peer-to-peer between GPUs needs it",
    risk="medium",
)
NEWER_NCCL = command(
    "upgrade-nccl",
    "Upgrade TensorFlow and its NCCL",
    "pip install 'tensorflow[and-cuda]==2.20.0'",
    why="old NCCL releases hang at start; another cross-device op avoids them meanwhile",
    minutes=20,
)


@check(
    code="GD751",
    slug="multi-gpu-hang-in-log",
    title="The log: GPUs cannot talk to each other",
    family="distribution",
    cause="multi-gpu-hang",
    core=False,
)
def hang(log: Log, gpus: Gpus | None, baseline: Trial | None) -> Iterator[Finding]:
    """Believe a fault of the kernel; a text that stops right after the choice of NCCL makes it likely."""
    faults, errors, used = events(log, "dma_fault"), events(log, "nccl_failed"), events(log, "nccl_used")
    stands = used and _ends_after(log, used[-1])
    nccl = stated(log, "nccl")
    old = versions.is_version(nccl) and not versions.at_least(nccl, HANGS_BEFORE)
    if not faults and not errors and not stands and not old:
        return
    several = gpus is None or len(gpus) != 1
    yield log_finding(
        "The kernel refuses transfers between the GPUs."
        if faults
        else "NCCL fails between the GPUs."
        if errors
        else f"NCCL {nccl} is known to hang at its start."
        if old and not stands
        else "Training stands still right after NCCL was chosen.",
        weigh_program((0.9 if faults else 0.7 if errors else 0.65) if several else 0.4, baseline),
        (*faults, *errors, *used),
        *((NEWER_NCCL, NO_P2P) if old and not faults else (NO_P2P, NO_IOMMU)),
        cause="multi-gpu-hang",
        know="NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1 python train.py; sudo dmesg | grep -iE 'dmar|amd-vi'",
    )


def _ends_after(log: Log, last: LogEvent) -> bool:
    end = next((each.line for each in log.events if each.kind == "text_end" and each.line >= last.line), None)
    return end is not None and end - last.line <= LINES_AFTER
