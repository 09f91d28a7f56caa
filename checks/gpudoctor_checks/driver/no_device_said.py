"""GD155: the log of a run says that there is no device.

What it does
    Reads cuInit's 100, 101 and 303, a driver that "does not appear to be running" and /dev/nvidia0 that does not exist, and
    weighs a container without the GPU, a variable that hides it, and a driver that is not there against each other.

Why it matters
    All three look alike in the log, and TensorFlow trains on the CPU. A driver that is installed again does not help where
    the container was started without the GPU or a variable hides it.

How to fix
    In a container: start it with the GPU. CUDA_VISIBLE_DEVICES: a GPU's number or UUID, or unset. Outside, with no libcuda
    at all: the driver.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Environment, Finding, Host, Log, NotApplicable, Severity, Trial, check, weigh_unusable
from gpudoctor_checks.driver.cuinit_events import (
    BAD_DEVICE,
    LESS,
    LIKELY,
    NO_DEVICE,
    NO_DRIVER,
    NO_LIBCUDA,
    OPEN,
    SEE_LIBCUDA,
    SET_DEVICES,
    read_cuinit,
    told_elsewhere,
)
from gpudoctor_checks.driver.cuinit_shadows import shadow_likely
from gpudoctor_checks.driver.gpu_hidden import NAME
from gpudoctor_checks.remedies import give_container_gpu
from gpudoctor_checks.said import container_of, log_finding, on_wsl, outside, trained_on, unproven

SURE, MAYBE_CONTAINER, NEXT = 0.9, 0.65, 0.45  # policy: each cause's share where nothing, or another sign, is told


@check(
    code="GD155",
    slug="no-device-in-log",
    title="The log says that there is no GPU",
    family="driver",
    cause=("container-no-gpu", "kernel-module-not-loaded", "cuda-visible-devices"),
    core=False,
)
def no_device(log: Log, host: Host | None, env: Environment | None, baseline: Trial | None) -> Iterator[Finding]:
    """Rank the causes that are possible, with the command that decides."""
    code, lines, alone = read_cuinit(log)
    if code not in {NO_DEVICE, BAD_DEVICE, NO_LIBCUDA} or (code == NO_LIBCUDA and on_wsl(host)):
        return
    if code == NO_DEVICE and shadow_likely(host, env):
        return  # GD151 tells it
    if told_elsewhere(log):
        raise NotApplicable("the log names a fault of the driver's parts: see GD152 and GD153")
    value = env.get(NAME) if env is not None else None
    inside = container_of(host)
    told = {
        "container-no-gpu": ("The container was started without the GPU.", give_container_gpu(inside or "docker")),
        "kernel-module-not-loaded": ("No NVIDIA driver is loaded or found.", NO_DRIVER),
        "cuda-visible-devices": (f"{NAME}{f'={value!r}' if value is not None else ''} hides every GPU.", SET_DEVICES),
    }
    weights = _weights(code, host, value, alone=alone)
    if trained_on(log):
        weights = {cause: min(static, NEXT) for cause, static in weights.items()}
    for cause, static in sorted(weights.items(), key=lambda each: -each[1]):
        if static:
            summary, fix = told[cause]
            yield log_finding(
                summary,
                weigh_unusable(static, baseline),
                lines,
                unproven(fix, "training ran without it") if trained_on(log) else fix,
                cause=cause,
                know=f"echo ${NAME}; {SEE_LIBCUDA}",
                severity=Severity.ERROR if static >= OPEN else Severity.WARNING,
            )


def _weights(code: int, host: Host | None, value: str | None, *, alone: bool) -> dict[str, float]:
    """Return how much speaks for each cause; "no device" comes from a driver that answers, so it is there."""
    inside = container_of(host)
    if code == NO_DEVICE and not alone and not inside and value is None:
        # a libcuda that is there and finds no module: on a machine that is the driver's half, in a container rather rare
        return {"kernel-module-not-loaded": LIKELY, "container-no-gpu": 0.0 if outside(host) else NEXT}
    variable = value is not None or (alone and code != NO_LIBCUDA and not inside)
    answers = code != NO_LIBCUDA and alone
    return {
        "container-no-gpu": SURE if inside else 0.0 if outside(host) else NEXT if variable else MAYBE_CONTAINER,
        "kernel-module-not-loaded": 0.0
        if inside or answers
        else LIKELY
        if outside(host) and code == NO_LIBCUDA
        else LESS,
        "cuda-visible-devices": 0.0 if not variable else SURE if value is not None else OPEN,
    }
