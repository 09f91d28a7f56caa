"""GD401: a process already holds the GPU memory that training needs.

What it does
    Reads from NVML how much memory of each GPU is free and which compute processes hold the rest, and asks the reference
    probe whether a small network could still train. A desktop's graphics processes do not count.

Why it matters
    TensorFlow reserves nearly all free memory of every visible GPU when it first uses one. What another process holds is
    missing from that reserve: training ends out of memory, or cuDNN and cuBLAS cannot start. The same habit makes "memory
    used" look alarming: it is a reservation, no leak, and says nothing about how busy the GPU is.

How to fix
    Choose an idle GPU with CUDA_VISIBLE_DEVICES. End a leftover of your own; ask the owner about anyone else's process.
    A notebook's kernel holds its memory until it is restarted or shut down; closing the notebook's tab ends nothing.
    A process of another container or user may hold memory without being listed.
    To share one GPU on purpose, set TF_FORCE_GPU_ALLOW_GROWTH=true for both processes, or give each a fixed part with
    tf.config.LogicalDeviceConfiguration(memory_limit=...), before TensorFlow first uses the GPU. Memory goes back to the
    GPU when a process ends; clear_session() does not return it, and set_visible_devices() limits none.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Finding,
    Gain,
    Gpu,
    GpuProcess,
    Gpus,
    Grade,
    Limits,
    Missing,
    Severity,
    Skip,
    Threshold,
    Trial,
    check,
    either,
    weigh_faulty,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.memory.free_gpu import all_own, ways

NEED = Threshold(
    name="needed_bytes",
    default=2 * 1024**3,
    unit="bytes",
    meaning="a GPU with less free memory than this is too full to train on",
    source="gpu_device.cc, MinSystemMemory: below 2 GiB TensorFlow itself treats a GPU as small",
)
COUNTED = 0.9  # NVML counted the bytes; what stays open is whether this job would use that GPU
SHORT = BROKEN - {"failed"}  # a loss that does not fall is no lack of memory
SERVICES = ("nvidia-cuda-mps-server",)  # shares the GPU on purpose and holds a context only


@check(
    code="GD401",
    slug="gpu-memory-held",
    title="GPU memory is held by another process",
    family="memory",
    cause=("other-process", "no-growth"),
    thresholds=(NEED,),
)
def held(gpus: Gpus, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the free memory of each GPU and who holds the rest."""
    broke, need = baseline is not None and baseline.status in SHORT, limits.of(NEED)
    unknown = {gpu.index: why for gpu in gpus if (why := _unknown(gpu, need, broke=broke))}
    taken = [gpu for gpu in gpus if gpu.index not in unknown and (_holders(gpu) or _tight(gpu, need))]
    idle = next((gpu for gpu in gpus if gpu.index not in unknown and gpu not in taken), None)
    for gpu in taken:
        yield _finding(gpu, idle, need, baseline)
    if not taken and (unknown or not len(gpus)):
        raise Skip("; ".join(f"GPU {index}: {why}" for index, why in unknown.items()) or "NVML lists no GPU")


def _unknown(gpu: Gpu, need: float, *, broke: bool) -> str:
    for count in (gpu.memory.free_bytes, gpu.memory.total_bytes):
        if isinstance(count, Missing):
            return f"free memory unknown ({count.reason})"
    hidden = isinstance(gpu.processes, Missing) or any(
        isinstance(each.memory_bytes, Missing) for each in gpu.processes if each.kind == "graphics"
    )
    return (
        "little memory is free, and NVML does not show who holds it"
        if hidden and _tight(gpu, need) and not broke
        else ""
    )


def _holders(gpu: Gpu) -> list[GpuProcess]:
    listed = either(gpu.processes, ())
    return [each for each in listed if each.kind == "compute" and not either(each.name, "").endswith(SERVICES)]


def _tight(gpu: Gpu, need: float) -> bool:
    """Tell whether too little is left even without the desktop; a board smaller than the need is not "held"."""
    desktop = sum(either(each.memory_bytes, 0) for each in either(gpu.processes, ()) if each.kind == "graphics")
    left = either(gpu.memory.free_bytes, need) + desktop
    return left < need <= either(gpu.memory.total_bytes, need)


def _finding(gpu: Gpu, idle: Gpu | None, need: float, baseline: Trial | None) -> Finding:
    holders, tight = _holders(gpu), _tight(gpu, need)
    own = all_own(holders)
    weight = weigh_faulty(COUNTED, baseline)
    broke = tight and baseline is not None and baseline.status in SHORT
    mild = own or idle is not None or not tight
    free, total = either(gpu.memory.free_bytes, 0), either(gpu.memory.total_bytes, 0)
    whose = ", ".join(_name(each) for each in holders) or "a process that NVML does not list"
    return Finding(
        subject=f"GPU {gpu.index}",
        summary=f"GPU {gpu.index}: {free / 2**30:.1f} of {total / 2**30:.1f} GiB free; held by {whose}.",
        severity=Severity.ERROR if broke else Severity.INFO if mild else Severity.WARNING,
        confidence=weight.confidence if tight else COUNTED,
        basis=weight.basis if tight else "NVML lists the process",
        cause="no-growth" if own else "other-process",
        evidence=known(
            "NVML", ("free", free, "bytes"), *((f"pid {p.pid} holds", p.memory_bytes, "bytes") for p in holders)
        ),
        fixes=tuple(ways(gpu, holders, idle, Gain(grade=Grade.UNBLOCKS if broke else Grade.UNPROVEN))),
    )


def _name(process: GpuProcess) -> str:
    if process.own is True:
        kind = "notebook kernel" if process.notebook is True else either(process.name, "process")
        return f"your own {kind} {process.pid}"
    return f"{'another user, process' if process.own is False else 'process'} {process.pid}"
