"""GD702: settings with which training on several GPUs is known to hang or to crawl.

What it does
    With two or more GPUs, looks at the shared memory of a container, at the IOMMU that stands between the GPUs, and
    at variables that switch NCCL's direct paths off. It does not run a training on several GPUs.

Why it matters
    GPUs of one machine exchange gradients through NVLink, PCIe or shared memory. Docker gives a container 64 MiB of
    shared memory, too little for NCCL with several GPUs. An IOMMU that translates addresses sends traffic between
    GPUs through the CPU; NCCL then is slow, or waits for ever at the first step, without a message.

How to fix
    Container: docker run --ipc=host, or --shm-size=8g. IOMMU on bare metal: iommu=pt on the kernel's command line, or
    switch it off in the firmware if no virtual machine needs it. To find out whether direct traffic is the trouble,
    run once with NCCL_P2P_DISABLE=1 and NCCL_DEBUG=INFO; where that helps, mend the cause instead of keeping it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Gpus,
    Grade,
    Host,
    Inconclusive,
    Kernel,
    Missing,
    NotApplicable,
    Severity,
    Trial,
    check,
    either,
)
from gpudoctor_checks.usage import weigh_pace

DOCKER_SHM_BYTES = 64 * 2**20  # docker run reference, --shm-size: "the default is 64 MB"
TRANSLATING = frozenset({"DMA", "DMA-FQ"})  # ABI/testing/sysfs-kernel-iommu_groups of the Linux kernel
DIRECT_PATHS = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")
KNOWN = 0.6  # NCCL User Guide, "Troubleshooting": it may hang; no training on several GPUs was run
BASIS = Gain(grade=Grade.UNPROVEN, basis="no training on several GPUs was run")
IN_A_POD = "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]   # mounted at /dev/shm"
PASS_THROUGH = Fix(
    id="iommu-pass-through",
    title="Let the IOMMU pass the GPUs through",
    action="manual",
    text="Add iommu=pt to the kernel's command line (/etc/default/grub), run sudo update-grub, restart",
    gain=BASIS,
    risk="medium",
    effort_minutes=15,
)


@check(
    code="GD702",
    slug="multi-gpu-hang",
    title="Several GPUs may hang or crawl together",
    family="distribution",
    cause="multi-gpu-hang",
    core=False,
)
def may_hang(
    gpus: Gpus, host: Host | None, kernel: Kernel | None, env: Environment | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Look at each known reason; where none can be seen, say what was not looked at."""
    if len(gpus) < 2:
        raise NotApplicable("one GPU")
    boards = either(kernel.pci_gpus, ()) if kernel is not None else ()
    size = host.shm_bytes if host is not None else Missing("host unknown")
    modes = {each.iommu for each in boards}
    switched = [name for name in DIRECT_PATHS if env is not None and env.get(name) not in {None, "", "0"}]
    if isinstance(size, int) and size <= DOCKER_SHM_BYTES:
        words, severity, fix = (
            f"{len(gpus)} GPUs, but only {size / 2**20:.0f} MiB of shared memory.",
            Severity.WARNING,
            more_shared_memory(host),
        )
    elif modes & TRANSLATING:
        words, severity, fix = f"An IOMMU stands between the {len(gpus)} GPUs.", Severity.INFO, PASS_THROUGH
    elif switched:
        words, severity, fix = (
            f"{switched[0]} is set: the GPUs exchange data the long way.",
            Severity.INFO,
            _unset(switched),
        )
    else:
        if isinstance(size, Missing) or not modes or any(isinstance(mode, Missing) for mode in modes):
            raise Inconclusive("shared memory or the IOMMU between the GPUs is unknown")
        return
    weight = weigh_pace(KNOWN, baseline)
    yield Finding(
        summary=words,
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="GPUs", value=len(gpus), source="NVML"),
            Evidence(label="shared memory", value=either(size, 0), unit="bytes", source="operating system"),
            Evidence(label="IOMMU", value=", ".join(sorted(str(either(m, "?")) for m in modes)) or "?", source="sysfs"),
        ),
        fixes=(fix,),
    )


def more_shared_memory(host: Host | None) -> Fix:
    """Return how a container, a pod or a machine gets a larger /dev/shm."""
    kind = either(host.container, "none") if host is not None else "none"
    pod = kind == "kubernetes"
    return Fix(
        id="more-shared-memory",
        title="Give it more shared memory",
        action="setting" if pod else "command",
        text=IN_A_POD
        if pod
        else "sudo mount -o remount,size=8g /dev/shm"
        if kind == "none"
        else f"{'podman run' if kind == 'podman' else 'docker run --gpus all'} --shm-size=8g IMAGE",
        gain=BASIS,
    )


def _unset(names: list[str]) -> Fix:
    return Fix(
        id="unset-nccl-limits",
        title="Let NCCL use its direct paths again",
        action="command",
        text=f"unset {' '.join(names)}",
        gain=BASIS,
        effort_minutes=1,
    )
