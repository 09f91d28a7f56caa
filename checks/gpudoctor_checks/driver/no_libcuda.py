"""Why no libcuda could be loaded (303): no driver, a container without the GPU, or a folder where the loader does not look.

The line is the same for all three, and TensorFlow prints it on each machine without a GPU. What stands beside it decides
more than it seems: TensorFlow looks for /proc/driver/nvidia/version first, and names /dev/nvidia0 only where that is there
(cuda_diagnostics.cc, LogDiagnosticInformation): then the kernel has the driver, which an unprivileged container sees, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.sdk import Driver, Fix, Host, Log, Missing
from gpudoctor_checks.driver.cuinit_events import (
    FIND_LIBCUDA,
    LIKELY,
    NO_DRIVER,
    WINDOWS_DRIVER,
    WSL_FIRST,
)
from gpudoctor_checks.remedies import give_container_gpu
from gpudoctor_checks.said import container_of, events, first, on_windows, outside

DRIVER, CONTAINER, WSL, LOADER = "kernel-module-not-loaded", "container-no-gpu", "wsl-libcuda", "missing-cuda-libs"
# Policy: each cause's share. SURE and LIKELY: a fact or a line tells it; from LIKELIEST on the verdict names it.
SURE, LIKELIEST, LIKELIER, EVEN, LESS, LEAST = 0.9, 0.6, 0.55, 0.5, 0.4, 0.25
OPEN_TITLE = "libcuda is not found; why is not told"
SEE_WHICH = "ls /.dockerenv /dev/dxg /dev/nvidia0 /proc/driver/nvidia/version; ldconfig -p | grep libcuda"
SEE_ON_WINDOWS = "nvidia-smi"
KNOWN = {
    DRIVER: "No NVIDIA driver is loaded or found.",
    CONTAINER: "The container was started without the GPU.",
    WSL: "WSL's own libcuda is not the one that is found.",
    LOADER: "The driver is there, but the loader does not find its libcuda.",
}
HALF_THERE = "The driver's own libcuda (nvcuda.dll on Windows) is not found: it is installed only in part."
LIKELIEST_OF_ALL = {
    DRIVER: "libcuda is not found, and nothing tells why; likeliest: no NVIDIA driver is installed.",
    CONTAINER: "libcuda is not found though the driver is there; likeliest: a container without the GPU.",
    WSL: "libcuda is not found though the driver is there; likeliest: WSL, whose libcuda lies in /usr/lib/wsl/lib.",
    LOADER: "libcuda is not found though the driver is there: it lies where the loader does not look.",
}
OTHERWISE = {
    DRIVER: "Or no NVIDIA driver is installed: there is no /proc/driver/nvidia/version.",
    CONTAINER: "Or a container was started without the GPU: there is a /.dockerenv.",
    WSL: "Or libcuda lies where the loader does not look; on WSL, where /dev/dxg is, in /usr/lib/wsl/lib.",
    LOADER: "Or libcuda lies where the loader does not look: ldconfig does not list it.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """One cause that is possible, how much speaks for it, what to say and what to do."""

    cause: str
    weight: float
    summary: str
    fix: Fix


def without_libcuda(log: Log, host: Host | None, driver: Driver | None) -> tuple[Suspect, ...]:
    """Return the causes that are possible, the likeliest first."""
    weights = _weights(log, host, driver)
    ordered = sorted(weights.items(), key=lambda each: -each[1])
    best = ordered[0][1]
    known = {**KNOWN, DRIVER: HALF_THERE} if _is_told(driver) else KNOWN
    words = [known if best > LIKELIEST else LIKELIEST_OF_ALL, *(OTHERWISE for _ in ordered)]
    return tuple(
        Suspect(cause=cause, weight=weight, summary=text[cause], fix=_fix(cause, log, host))
        for (cause, weight), text in zip(ordered, words, strict=False)
    )


def from_windows(log: Log, host: Host | None) -> bool:
    """Return whether the text is of native Windows: there the driver's library is a DLL."""
    return on_windows(host) or any(
        each.values.get("library", "").endswith(".dll") for each in events(log, "dlopen_failed")
    )


def _is_told(driver: Driver | None) -> bool:
    return driver is not None and not isinstance(driver.version, Missing)


def _weights(log: Log, host: Host | None, driver: Driver | None) -> dict[str, float]:
    inside, known_outside = container_of(host), outside(host)
    if inside:
        return {CONTAINER: SURE}
    if from_windows(log, host):
        return {DRIVER: LIKELY}
    may_be_wsl = host is None or isinstance(host.wsl, Missing)
    elsewhere = WSL if may_be_wsl else LOADER
    told = _is_told(driver)
    loaded = any("kernel" in each.values for each in events(log, "driver_reported"))
    if first(log, "no_device_node") is not None:
        return {LOADER: LIKELIEST} if known_outside else {CONTAINER: LIKELY, LOADER: LEAST}
    not_in_kernel = first(log, "kernel_driver_not_running") is not None
    if told and not_in_kernel and may_be_wsl:
        return {WSL: LIKELIEST, DRIVER: LESS, **({} if known_outside else {CONTAINER: LEAST})}
    if loaded or (told and not not_in_kernel):
        return {LOADER: LIKELY} if known_outside else {CONTAINER: LIKELIEST, elsewhere: LESS}
    maybe_elsewhere = {} if not_in_kernel and not may_be_wsl else {elsewhere: LEAST}
    if known_outside:
        return {DRIVER: LIKELY, **maybe_elsewhere}
    return {DRIVER: LIKELIER if not_in_kernel else EVEN, CONTAINER: LESS, **maybe_elsewhere}


def _fix(cause: str, log: Log, host: Host | None) -> Fix:
    if cause == DRIVER:
        return WINDOWS_DRIVER if from_windows(log, host) else NO_DRIVER
    if cause == CONTAINER:
        return give_container_gpu(container_of(host) or "docker")
    return WSL_FIRST if cause == WSL else FIND_LIBCUDA
