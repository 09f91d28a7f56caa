"""Memory growth by its variable, as each system's shell sets it."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import Fix, Host
from gpudoctor_checks.said import command, on_windows

GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"
GROW = command(
    "memory-growth",
    "Let TensorFlow take memory as it needs it",
    f"export {GROWTH}=true",
    why="cuDNN and cuBLAS then find memory of their own",
    minutes=1,
)


def grow(host: Host | None) -> Fix:
    """Return how this system's shell sets the variable."""
    return replace(GROW, text=f"set {GROWTH}=true") if on_windows(host) else GROW
