"""Memory growth by its variable, as each system's shell sets it, and what a program itself has to change."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import Fix, Host
from gpudoctor_checks.said import change, command, on_windows

GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"
GROW = command(
    "memory-growth",
    "Let TensorFlow take memory as it needs it",
    f"export {GROWTH}=true",
    why="cuDNN and cuBLAS then find memory of their own",
    minutes=1,
)
GROW_FIRST = change(
    "memory-growth-in-program",
    "Or set growth before the first GPU call",
    "for gpu in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(gpu, True)  # right after the import",
    why="later it raises an error or does nothing",
)
ONE_OPTION = change(
    "one-memory-option",
    "Keep one of them: growth, or the limit",
    "remove set_memory_growth(gpu, True) where set_logical_device_configuration(gpu, [...memory_limit...]) stands, or the other way round",
    why="a GPU with logical devices has pools of a fixed size",
)
SPAWN = change(
    "spawn-processes",
    "Start processes anew instead of forking",
    "multiprocessing.set_start_method('spawn')  # before TensorFlow is touched; Keras: use_multiprocessing=False, or no tf.* in the generator",
    why="CUDA does not live through fork()",
)


def grow(host: Host | None) -> Fix:
    """Return how this system's shell sets the variable."""
    return replace(GROW, text=f"set {GROWTH}=true") if on_windows(host) else GROW
