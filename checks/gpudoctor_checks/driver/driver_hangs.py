"""GD122: the driver does not answer: a call of it hangs.

What it does
    Asks libcuda (cuInit) and NVML in processes of their own, each with a deadline, and finds that neither comes back. It
    reads the kernel log for what the driver wrote meanwhile.

Why it matters
    Every CUDA program, TensorFlow included, then hangs at its start, and nvidia-smi as well. A process that waits in the
    kernel (state D) cannot be killed, not even with SIGKILL; it goes with a restart.

How to fix
    Look first: the kernel log names the reason (an Xid, "GSP", "rpc timeout", "task nvidia-smi blocked for more than 120
    seconds"), and ps shows who is stuck. Then restart the machine; of a container, the host. On WSL: wsl --shutdown. If it
    comes back, the hardware or the driver's firmware is suspect: save the lines for the vendor. TensorFlow, CUDA and cuDNN
    have no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Host,
    Inconclusive,
    Kernel,
    Nvml,
    Severity,
    Trial,
    check,
    either,
    unblocks,
    weigh_unusable,
    xids,
)

BOTH = 0.95  # two libraries, asked apart, both past a deadline a thousand times their usual time
CUDA_ALONE = 0.85  # a machine with many GPUs and without persistence may be slow once
LOOK = Fix(
    id="read-driver-hang",
    title="Read why it hangs, and who is stuck",
    action="command",
    text="sudo dmesg | grep -iE 'NVRM|Xid|blocked for more' | tail -20; ps -eo pid,stat,wchan:24,comm | awk '$2 ~ /^D/'",
    gain=Gain(grade=Grade.UNPROVEN, basis="names the reason; changes nothing"),
    risk="none",
    effort_minutes=1,
)


def _restart(text: str) -> Fix:
    return Fix(
        id="restart-hung-driver",
        title="Restart: a call stuck in the kernel stays",
        action="command",
        text=text,
        gain=unblocks("no CUDA program starts before"),
        risk="medium",
        effort_minutes=5,
    )


@check(
    code="GD122",
    slug="driver-hangs",
    title="The driver does not answer",
    family="driver",
    cause="cuda-init-failed",
    core=False,
)
def hangs(
    cuda: Cuda, nvml: Nvml | None, kernel: Kernel | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Find a cuInit that did not return; NVML alone hanging is a matter of figures, for GD107."""
    status = either(cuda.status, "")
    if not status:
        raise Inconclusive("libcuda was not asked")
    if status != "timeout":
        return
    both = nvml is not None and either(nvml.status, "") == "timeout"
    weight = weigh_unusable(BOTH if both else CUDA_ALONE, baseline)
    faults = either(kernel.xids, ()) if kernel is not None else ()
    told = ", ".join(f"Xid {each.code} {_named(each.code)}".strip() for each in faults)
    wsl = host is not None and either(host.wsl, False)
    container = host is not None and either(host.container, "none") != "none"
    where = "wsl --shutdown  # in PowerShell" if wsl else f"sudo reboot{'  # on the host' if container else ''}"
    yield Finding(
        summary=f"The driver does not answer: cuInit{' and NVML hang' if both else ' hangs'}.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="cuInit", value="no answer within its deadline", source="libcuda"),
            Evidence(label="NVML", value=_answer(nvml), source="nvmlInit"),
            Evidence(label="kernel log", value=told or "no Xid seen, or not readable", source="kernel"),
        ),
        fixes=(LOOK, _restart(where)),
    )


def _named(code: int) -> str:
    row = xids.xid(code)
    return f"({row.description})" if row is not None else ""


def _answer(nvml: Nvml | None) -> str:
    status = either(nvml.status, "not asked") if nvml is not None else "not asked"
    return "no answer within its deadline" if status == "timeout" else status
