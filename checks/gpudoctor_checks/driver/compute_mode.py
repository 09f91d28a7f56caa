"""Compute modes that keep a program off the GPU: one forbids all programs, one takes a single process."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.sdk import Fix, Gain, Gpu, GpuProcess, Grade, either, unblocks

# EXCLUSIVE_THREAD (deprecated since CUDA 8) lets one thread use a context; TensorFlow has several (nvml.h, nvmlComputeMode_t)
FORBIDDING = frozenset({"prohibited", "exclusive_thread"})
ONE_PROCESS = "exclusive_process"
SHARES = "nvidia-cuda-mps-server"  # the mode is meant for it: it is the one process, and serves many
COMPUTE_DEFAULT = Fix(
    id="compute-mode-default",
    title="Allow compute programs on the GPU",
    action="command",
    text="sudo nvidia-smi -c DEFAULT",
    gain=unblocks("the mode keeps every further program off"),
    effort_minutes=1,
)
LOOK = Gain(grade=Grade.UNBLOCKS, basis="the GPU takes a further process when this one has ended")
ROOM = 0.5  # policy: with less than half of the memory free, two trainings do not share a GPU


def make_way(gpus: Iterable[Gpu], holders: Iterable[GpuProcess]) -> tuple[Fix, ...]:
    """Return what to do about a process that has the GPU alone: who it is; sharing only where memory is left to share."""
    pids = ",".join(str(each.pid) for each in holders)
    see = Fix(
        id="see-gpu-holder",
        title="See who has the GPU; wait or take another",
        action="command",
        text=f"ps -o user,pid,etime,args -p {pids}; nvidia-smi  # one takes one process: CUDA_VISIBLE_DEVICES chooses another",
        gain=LOOK,
        risk="none",
        effort_minutes=1,
    )
    return (COMPUTE_DEFAULT, see) if all(_roomy(gpu) for gpu in gpus) else (see,)


def _roomy(gpu: Gpu) -> bool:
    free, total = either(gpu.memory.free_bytes, 0), either(gpu.memory.total_bytes, 0)
    return free >= ROOM * total


def forbidden(gpus: Iterable[Gpu]) -> bool:
    """Return whether no GPU lets a program compute."""
    modes = [either(gpu.compute_mode, "unknown") for gpu in gpus]
    return bool(modes) and all(mode in FORBIDDING for mode in modes)


def occupied(gpus: Iterable[Gpu]) -> tuple[GpuProcess, ...]:
    """Return who has the GPUs that take one process each, () where one of them is free to take ours."""
    holders: list[GpuProcess] = []
    for gpu in gpus:
        mode = either(gpu.compute_mode, "unknown")
        inside = [
            each
            for each in either(gpu.processes, ())
            if each.kind == "compute" and not either(each.name, "").endswith(SHARES)
        ]
        if mode not in FORBIDDING and not (mode == ONE_PROCESS and inside):
            return ()
        holders += inside
    return tuple(holders)
