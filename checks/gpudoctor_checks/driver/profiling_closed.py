"""GD118: the GPU's performance counters are closed to this user, so device activity cannot be traced.

What it does
    Reads from the driver's parameters whether counters are for administrators only, and whether this process is one.

Why it matters
    TensorFlow's profiler, Nsight and `gpudoctor run` read kernel times through CUPTI. Where the counters are closed,
    the trace has no device part (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES): how long the GPU computed is then not measured
    but inferred from NVML, with less certainty. Training is neither slower nor wrong. This is the driver's default.

How to fix
    An administrator opens them for all users: put "options nvidia NVreg_RestrictProfilingToAdminUsers=0" into
    /etc/modprobe.d/nvidia-profiling.conf, rebuild the initial RAM disk (sudo update-initramfs -u) and restart. It was
    closed for a reason (security bulletin of 2019: counters may leak what others compute); on a shared machine ask.
    In a container, --cap-add=SYS_ADMIN opens them for root there.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Host, Kernel, Severity, Trial, check, either, must_know
from gpudoctor_checks.usage import weigh_pace

SAID = 0.9  # the driver's own parameter and this process's capabilities
SEEN = Gain(grade=Grade.UNPROVEN, basis="shows where device time goes; not faster")
FOR_ALL = Fix(
    id="open-gpu-counters",
    title="Open the counters for all users, then restart",
    action="command",
    text="echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf"
    " && sudo update-initramfs -u",
    gain=SEEN,
    risk="medium",
)
IN_CONTAINER = Fix(
    id="open-gpu-counters",
    title="Start the container with the right to profile",
    action="command",
    text="docker run --gpus all --cap-add=SYS_ADMIN IMAGE",
    gain=SEEN,
    risk="medium",
)


@check(
    code="GD118",
    slug="profiling-closed",
    title="GPU counters are closed to this user",
    family="driver",
    cause="profiling-not-permitted",
    core=False,
)
def closed(kernel: Kernel, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Tell that a trace will have no device part."""
    if must_know(kernel.profiling_open, "whether the GPU's counters are open"):
        return
    weight = weigh_pace(SAID, baseline)
    container = host is not None and either(host.container, "none") != "none"
    yield Finding(
        summary="GPU counters are for administrators only: traces will lack the device.",
        severity=Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="RmProfilingAdminOnly", value=1, source="/proc/driver/nvidia/params"),
            Evidence(label="CAP_SYS_ADMIN", value=False, source="/proc/self/status"),
        ),
        fixes=(IN_CONTAINER if container else FOR_ALL,),
    )
