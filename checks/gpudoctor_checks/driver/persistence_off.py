"""GD117: persistence mode is off, so each start pays for the driver's initialisation.

What it does
    Reads NVML's persistence mode. A GPU that drives a screen, or that a process holds now, stays initialised anyway.

Why it matters
    On Linux the driver takes a GPU down when its last user leaves and brings it up for the next one. Each short run,
    each nvidia-smi, each gpudoctor scan then begins with that, seconds on a server with many GPUs, and settings such
    as a power limit or application clocks are lost with each. Training itself, once it runs, is not slower.

How to fix
    sudo systemctl enable --now nvidia-persistenced; it comes with the driver. Without it: sudo nvidia-smi -pm 1, which
    lasts until the next restart. Both belong on the host, not into a container. Windows and WSL have no such mode.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gain,
    Gpu,
    Gpus,
    Grade,
    Host,
    Missing,
    NotApplicable,
    Severity,
    Skip,
    Trial,
    check,
    either,
)
from gpudoctor_checks.usage import weigh_pace

SAID = 0.9  # NVML says so; whether the starts are frequent enough to matter is the user's to know
START = Gain(grade=Grade.UNPROVEN, basis="shortens each start, not the steps")


@check(
    code="GD117",
    slug="persistence-off",
    title="Persistence mode is off",
    family="driver",
    cause="persistence-off",
    core=False,
)
def off(gpus: Gpus, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Tell of GPUs that the driver takes down between two runs."""
    if host is not None and (either(host.wsl, False) or either(host.os, "linux") != "linux"):
        raise NotApplicable("persistence mode exists on Linux only")
    unknown = [f"GPU {gpu.index}: {why}" for gpu in gpus if (why := _unknown(gpu))]
    down = [gpu for gpu in gpus if gpu.persistence is False and not _held(gpu)]
    if not down:
        if unknown or not len(gpus):
            raise Skip("; ".join(unknown) or "NVML lists no GPU")
        return
    weight = weigh_pace(SAID, baseline)
    container = host is not None and either(host.container, "none") != "none"
    yield Finding(
        summary=f"Persistence mode is off on {_named(down)}: each start initialises the driver.",
        severity=Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=tuple(Evidence(label=f"GPU {gpu.index}", value="off", source="NVML") for gpu in down),
        fixes=(_fix("on the host, not in the container: " if container else ""),),
    )


def _unknown(gpu: Gpu) -> str:
    missing = gpu.persistence
    return f"persistence mode unknown ({missing.reason})" if isinstance(missing, Missing) else ""


def _held(gpu: Gpu) -> bool:
    return either(gpu.display_active, False) or bool(either(gpu.processes, ()))


def _named(gpus: list[Gpu]) -> str:
    return f"GPU {gpus[0].index}" if len(gpus) == 1 else f"{len(gpus)} GPUs"


def _fix(where: str) -> Fix:
    command = "sudo systemctl enable --now nvidia-persistenced"
    return Fix(
        id="persistence-daemon",
        title="Keep the driver initialised between runs",
        action="manual" if where else "command",
        text=f"{where}{command}",
        gain=START,
        effort_minutes=2,
    )
