"""GD155: the log of a run says that there is no device.

What it does
    Reads cuInit's 100, 101 and 303, a driver that "does not appear to be running" and /dev/nvidia0 that does not exist, and
    weighs a container without the GPU, a variable that hides it, a driver that is not there and a libcuda that the loader
    does not find against each other.

Why it matters
    All look alike in the log, and TensorFlow trains on the CPU. A driver that is installed again does not help where the
    container was started without the GPU or a variable hides it. 303 says only that libcuda could not be loaded: every
    machine without a driver says so, too.

How to fix
    In a container: start it with the GPU. CUDA_VISIBLE_DEVICES: a GPU's number or UUID, or unset. Outside, with no libcuda
    at all: the driver. On WSL: its own libcuda first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import (
    OPEN,
    Driver,
    Environment,
    Finding,
    Gpus,
    Host,
    Log,
    LogEvent,
    NotApplicable,
    Scheduler,
    Severity,
    Trial,
    check,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuinit_events import (
    BAD_DEVICE,
    NO_DEVICE,
    NO_LIBCUDA,
    SEE_LIBCUDA,
    read_cuinit,
    told_elsewhere,
)
from gpudoctor_checks.driver.cuinit_shadows import shadow_likely, wsl_itself
from gpudoctor_checks.driver.gpu_hidden import NAME
from gpudoctor_checks.driver.hidden_suspects import NEXT, without_device
from gpudoctor_checks.driver.no_libcuda import (
    LIKELIEST,
    OPEN_TITLE,
    SEE_ON_WINDOWS,
    SEE_WHICH,
    Suspect,
    from_windows,
    without_libcuda,
)
from gpudoctor_checks.said import first, log_finding, on_windows, trained_on, unproven


@check(
    code="GD155",
    slug="no-device-in-log",
    title="The log says that there is no GPU",
    family="driver",
    cause=(
        "container-no-gpu",
        "kernel-module-not-loaded",
        "cuda-visible-devices",
        "wsl-libcuda",
        "missing-cuda-libs",
        "uvm-not-ready",
        "scheduler-no-gpu",
    ),
    core=False,
)
def no_device(
    log: Log,
    host: Host | None,
    env: Environment | None,
    driver: Driver | None,
    gpus: Gpus | None,
    scheduler: Scheduler | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Rank the causes that are possible, with the command that decides."""
    code, lines, alone = read_cuinit(log)
    if code not in {NO_DEVICE, BAD_DEVICE, NO_LIBCUDA} or (code == NO_LIBCUDA and wsl_itself(host)):
        return
    if code == NO_DEVICE and shadow_likely(host, env):
        return  # GD151 tells it
    if told_elsewhere(log):
        raise NotApplicable("the log names a fault of the driver's parts: see GD152 and GD153")
    if first(log, "no_devices_listed") is not None:
        raise NotApplicable("nvidia-smi lists no device either: see GD156")
    if code == NO_LIBCUDA:
        suspects = without_libcuda(log, host, driver)
        know = SEE_ON_WINDOWS if from_windows(log, host) else SEE_WHICH
    else:
        suspects = without_device(log, code, host, env, scheduler, alone=alone)
        know = f"echo %{NAME}% & nvidia-smi" if on_windows(host) else f"echo ${NAME}; {SEE_LIBCUDA}"
    for place, each in enumerate(suspects):
        yield _told(each, log, lines, know, baseline, sure=not place and bool(gpus), of=suspects)


def _told(
    suspect: Suspect,
    log: Log,
    lines: tuple[LogEvent, ...],
    know: str,
    trial: Trial | None,
    *,
    sure: bool,
    of: tuple[Suspect, ...],
) -> Finding:
    """Return one cause as a finding; `sure`: a GPU is there, so that it is a fault whatever the cause."""
    ran = trained_on(log)
    static = min(suspect.weight, NEXT) if ran else suspect.weight
    fix = unproven(suspect.fix, "training ran without it") if ran else suspect.fix
    severity = Severity.ERROR if static >= OPEN or (sure and not ran) else Severity.WARNING
    weight = weigh_unusable(static, trial)
    found = log_finding(suspect.summary, weight, lines, fix, cause=suspect.cause, know=know, severity=severity)
    return replace(found, title=OPEN_TITLE) if len(of) > 1 and of[0].weight <= LIKELIEST else found
