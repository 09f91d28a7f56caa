"""GD751: the log shows several GPUs that cannot talk to each other.

What it does
    Reads DMA faults of the kernel, NCCL's errors, a full /dev/shm, a text that ends right after NCCL was chosen for the
    reduction, and what is said of several GPUs that stand still.

Why it matters
    With the IOMMU on, peer-to-peer transfers between GPUs are turned away, and NCCL waits for ever: the first step never
    ends, with GPUs at 0 or 100 %.

How to fix
    Where NCCL names InfiniBand or a socket, it is the network: the limit of locked memory, or the interface. Else
    NCCL_P2P_DISABLE=1 shows at once whether it is that, and lets training run. The lasting cure is to switch IOMMU
    translation or ACS off. A container has 64 MB of /dev/shm: give it more (--shm-size). Batch size and memory have no part in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import TEXT_END, Evidence, Finding, Gpus, Host, Log, LogEvent, Severity, Trial, check, versions
from gpudoctor_checks.distribution.hang_remedies import DEBUG, NEWER_NCCL, NO_IOMMU, NO_P2P
from gpudoctor_checks.distribution.multi_gpu_hang import more_shared_memory
from gpudoctor_checks.distribution.nccl_network import network_fails, of_network, without_nccl
from gpudoctor_checks.said import container_of, events, log_finding, stated, unproven, weigh_program

LINES_AFTER = 12  # policy: a step that ends prints more than this after NCCL was chosen
HANGS_BEFORE = "2.3.7"  # NCCL release notes 2.3.7: bootstrap hang through reused sockets fixed
SAID = 0.45  # policy: a sentence, and a deadlock of the program's own looks the same
STANDS = re.compile(r"\b(?:stuck|hangs?|hung|hanging|stalls?|stalled|freezes?|frozen|stands? still)\b", re.IGNORECASE)
SEVERAL = re.compile(
    r"\b(?:two|three|four|eight|both|all|several|multiple|many|[2-9]|\d\d)\b[^.;]{0,20}\bGPUs\b|\bMirroredStrategy\b|\bmulti.?GPU\b",
    re.IGNORECASE,
)


@check(
    code="GD751",
    slug="multi-gpu-hang-in-log",
    title="The log: GPUs cannot talk to each other",
    family="distribution",
    cause="multi-gpu-hang",
    core=False,
)
def hang(log: Log, gpus: Gpus | None, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Believe a fault of the kernel; a text that stops right after the choice of NCCL makes it likely."""
    settled = _without_room(log, host, baseline) or without_nccl(log, baseline)
    if settled is not None:
        yield settled
        return
    faults, errors, used = events(log, "dma_fault"), events(log, "nccl_failed"), events(log, "nccl_used")
    stands = used and _ends_after(log, used[-1])
    nccl = stated(log, "nccl")
    old = versions.is_version(nccl) and not versions.at_least(nccl, HANGS_BEFORE)
    several = gpus is None or len(gpus) != 1
    if not faults and not errors and not stands and not old:
        yield from _by_word(stated(log, "other"), baseline)
        return
    if not faults and container_of(host) and any(each.values.get("message") == "system" for each in errors):
        summary, weight = (
            "A system call of NCCL fails in a container: mostly /dev/shm is full.",
            weigh_program(0.7, baseline),
        )
        fixes = (unproven(more_shared_memory(host)), unproven(DEBUG), unproven(NO_P2P))
        yield log_finding(summary, weight, errors, *fixes, cause="multi-gpu-hang", know="df -h /dev/shm")
        return
    if not faults and (network := of_network(errors)):
        yield network_fails(network, baseline)
        return
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


def _without_room(log: Log, host: Host | None, trial: Trial | None) -> Finding | None:
    full = events(log, "nccl_no_shm")
    if not full:
        return None
    weight, fix = weigh_program(0.9, trial), more_shared_memory(host)
    return log_finding(
        "NCCL finds no room in /dev/shm.", weight, full, fix, cause="multi-gpu-hang", know="df -h /dev/shm"
    )


def _by_word(other: str, trial: Trial | None) -> Iterator[Finding]:
    """Judge what somebody says of several GPUs whose training stands still: a suspicion, and one run decides."""
    if not STANDS.search(other) or not SEVERAL.search(other):
        return
    told = Evidence(label="said", value=other[:120], source="stated")
    summary, weight = "Training on several GPUs stands still, by what is said.", weigh_program(SAID, trial)
    yield log_finding(
        summary,
        weight,
        (),
        unproven(NO_P2P),
        unproven(DEBUG),
        cause="multi-gpu-hang",
        severity=Severity.WARNING,
        know="NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1 python train.py; sudo dmesg | grep -iE 'dmar|amd-vi'",
        more=(told,),
    )


def _ends_after(log: Log, last: LogEvent) -> bool:
    end = next((each.line for each in log.events if each.kind == TEXT_END and each.line >= last.line), None)
    return end is not None and end - last.line <= LINES_AFTER
