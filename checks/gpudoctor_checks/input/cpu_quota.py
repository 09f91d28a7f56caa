"""GD506: a CPU quota leaves fewer cores than TensorFlow starts threads for.

What it does
    Compares the quota of the control group (docker --cpus, Kubernetes limits, systemd) with the processors that the
    process may run on, and reads how often the quota has stopped this group so far.

Why it matters
    TensorFlow and tf.data count the processors of the affinity mask; the quota they do not see. With 64 processors and a
    quota of 4, 64 threads share the time of 4: they use it up early in each period of 100 ms, and then all of them
    stand still, the thread that feeds the GPU among them. The GPU shows gaps and no error tells why.

How to fix
    Give the container the cores it needs, or pin it instead (docker --cpuset-cpus=0-3): TensorFlow then sees 4.
    Where the quota stays, tell TensorFlow: TF_NUM_INTEROP_THREADS, TF_NUM_INTRAOP_THREADS, and for the pipeline
    options.threading.private_threadpool_size, each set to the quota.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from gpudoctor.sdk import (
    Cpu,
    Finding,
    Fix,
    Gain,
    Gpus,
    Grade,
    Host,
    Inconclusive,
    Missing,
    Severity,
    Trial,
    check,
    either,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.usage import weigh_pace

SEEN = 0.6  # policy: quota and processors are certain; that training needs more is not
COUNTED = 0.85  # the kernel counted the periods in which the group was stopped
UNTOLD = Gain(grade=Grade.UNPROVEN, basis="what training gains from more cores was not measured")


@check(
    code="GD506",
    slug="cpu-quota",
    title="A CPU quota below TensorFlow's threads",
    family="input",
    cause="cpu-quota",
    core=False,
)
def throttled(host: Host, gpus: Gpus | None, baseline: Trial | None) -> Iterator[Finding]:
    """Compare quota and processors; less than one core for each GPU is grave, for each is fed by a thread of its own."""
    cpu = host.cpu
    quota, seen = cpu.quota_cores, either(cpu.affinity, either(cpu.cores, 0))
    if isinstance(quota, Missing):
        if quota.reason == "unlimited":
            return
        raise Inconclusive(f"the CPU quota is unknown: {quota.reason}")
    if not seen:
        raise Inconclusive("how many processors there are is unknown")
    if quota >= seen:
        return
    starved = gpus is not None and quota < len(gpus)
    hit = either(cpu.quota_hit_share, 0.0)
    weight = weigh_pace(COUNTED if hit else SEEN, baseline)
    stopped = f"; it stopped them in {hit:.0%} of its periods" if hit else ""
    yield Finding(
        summary=f"A quota of {quota:g} cores for the threads of {seen} processors{stopped}.",
        severity=Severity.WARNING if starved else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *known("control group", ("quota", quota, "cores"), ("stopped in", cpu.quota_hit_share, "of periods")),
            *known("operating system", ("processors seen", seen, "")),
            *known("NVML", ("GPUs to feed", len(gpus) if gpus is not None else Missing("unknown"), "")),
        ),
        fixes=tuple(_fixes(cpu, quota)),
    )


def _fixes(cpu: Cpu, quota: float) -> Iterator[Fix]:
    threads = max(1, math.floor(quota))
    yield Fix(
        id="more-cores",  # GD501 offers the same
        title="Give the job more CPU cores",
        action="command",
        text=f"docker run --cpus={min(either(cpu.affinity, 4), 2 * math.ceil(quota) + 2)} IMAGE   # Kubernetes: limits.cpu",
        gain=UNTOLD,
    )
    yield Fix(
        id="threads-by-quota",
        title="Or start as many threads as there is time for",
        action="setting",
        text=f"export TF_NUM_INTEROP_THREADS={threads} TF_NUM_INTRAOP_THREADS={threads}",
        gain=UNTOLD,
        effort_minutes=1,
    )
