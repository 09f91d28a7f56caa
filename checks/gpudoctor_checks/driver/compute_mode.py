"""Compute modes that keep a program off the GPU: one forbids all programs, one takes a single process."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.sdk import Fix, Gpu, GpuProcess, either, unblocks

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
