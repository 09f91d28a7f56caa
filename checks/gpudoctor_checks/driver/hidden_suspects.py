"""Why a libcuda that answers finds no device (100, 101): a container, a variable, a module or a node that is not there."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import OPEN, Environment, Fix, Host, Log, Scheduler
from gpudoctor_checks.driver.cuinit_events import LESS, LIKELY, NO_DEVICE, NO_DRIVER, RENEW_UVM, SET_DEVICES
from gpudoctor_checks.driver.gpu_hidden import NAME
from gpudoctor_checks.driver.no_libcuda import Suspect
from gpudoctor_checks.remedies import ask_scheduler, batch_scheduler, give_container_gpu
from gpudoctor_checks.said import container_of, first, on_windows, outside

SURE, MAYBE_CONTAINER, NEXT = 0.9, 0.65, 0.45  # policy: each cause's share where nothing, or another sign, is told


def without_device(
    log: Log, code: int, host: Host | None, env: Environment | None, scheduler: Scheduler | None, *, alone: bool
) -> tuple[Suspect, ...]:
    """Return what "no device" may come from, the likeliest first."""
    value = env.get(NAME) if env is not None else None
    if (kind := batch_scheduler(scheduler)) and value is None and code == NO_DEVICE:
        summary = "The job was granted no GPU."
        return (Suspect(cause="scheduler-no-gpu", weight=LIKELY, summary=summary, fix=ask_scheduler(kind)),)
    told: dict[str, tuple[str, Fix]] = {
        "container-no-gpu": (
            "The container was started without the GPU.",
            give_container_gpu(container_of(host) or "docker"),
        ),
        "kernel-module-not-loaded": ("No NVIDIA driver is loaded or found.", NO_DRIVER),
        "uvm-not-ready": ("The driver is loaded, but the GPU has no device node.", RENEW_UVM),
        "cuda-visible-devices": (f"{NAME}{f'={value!r}' if value is not None else ''} hides every GPU.", _set(host)),
    }
    weights = sorted(_weights(log, code, host, value, alone=alone).items(), key=lambda each: -each[1])
    return tuple(
        Suspect(cause=cause, weight=static, summary=told[cause][0], fix=told[cause][1])
        for cause, static in weights
        if static
    )


def _set(host: Host | None) -> Fix:
    """Return how this system's shell sets the variable."""
    return replace(SET_DEVICES, text=f"set {NAME}=0") if on_windows(host) else SET_DEVICES


def _weights(log: Log, code: int, host: Host | None, value: str | None, *, alone: bool) -> dict[str, float]:
    """Return how much speaks for each cause; "no device" comes from a driver that answers, so it is there."""
    inside = container_of(host)
    if code == NO_DEVICE and not alone and not inside and value is None:
        if first(log, "no_device_node") is not None:  # said only where the kernel has the driver: see no_libcuda
            return {
                "container-no-gpu": 0.0 if outside(host) else MAYBE_CONTAINER,
                "uvm-not-ready": LIKELY if outside(host) else LESS,
            }
        # a libcuda that is there and finds no module: on a machine that is the driver's half, in a container rather rare
        return {"kernel-module-not-loaded": LIKELY, "container-no-gpu": 0.0 if outside(host) else NEXT}
    variable = value is not None or (alone and not inside)
    return {
        "container-no-gpu": SURE if inside else 0.0 if outside(host) else NEXT if variable else MAYBE_CONTAINER,
        "kernel-module-not-loaded": 0.0 if inside or alone else LESS,
        "cuda-visible-devices": 0.0 if not variable else SURE if value is not None else OPEN,
    }
