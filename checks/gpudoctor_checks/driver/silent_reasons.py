"""What keeps NVIDIA's driver from answering: a module that is refused, missing or displaced, or the driver of Windows."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Host, Kernel, Log, LogEvent, Trial, either, weigh_unusable
from gpudoctor_checks.driver.cuinit_events import WINDOWS_DRIVER
from gpudoctor_checks.driver.silent_remedies import (
    BLACKLIST,
    ENROL,
    FITTING_KERNEL,
    REBUILD,
    SEE_BUILD,
    SEE_HOLDER,
    SEE_WSL,
    WHY,
    WSL_DRIVER,
)
from gpudoctor_checks.said import events, log_finding, on_wsl


def _silent(failed: tuple[LogEvent, ...]) -> tuple[LogEvent, ...]:
    """Return the lines that say that no driver answers."""
    return tuple(
        each
        for each in failed
        if each.kind == "nvidia_smi_failed" or "not loaded" in each.values.get("error", "").lower()
    )


def by_windows(failed: tuple[LogEvent, ...], host: Host | None, trial: Trial | None) -> Iterator[Finding]:
    """Judge a driver that is Windows' own: there is no module to build, to sign or to blacklist."""
    if lines := _silent(failed):
        inside = on_wsl(host)
        yield log_finding(
            "The NVIDIA driver of Windows does not answer.",
            weigh_unusable(0.9, trial),
            lines,
            WSL_DRIVER if inside else WINDOWS_DRIVER,
            cause="kernel-module-not-loaded",
            know=SEE_WSL if inside else "",
        )


def _signs_itself(host: Host | None) -> bool:
    """Return whether this distribution enrols a key when the driver is installed: then a new kernel is the likelier."""
    system = either(host.distribution, "").lower() if host is not None else ""
    return system.startswith(("ubuntu", "debian", "linux mint", "pop"))


def not_loaded(
    log: Log, failed: tuple[LogEvent, ...], kernel: Kernel | None, host: Host | None, trial: Trial | None
) -> Iterator[Finding]:
    """Name what keeps the module out, where the text or the machine tells it; else what to ask first."""
    refused, nouveau = events(log, "module_refused"), events(log, "nouveau_holds")
    missing, unbuilt, other = (
        events(log, each) for each in ("module_missing", "module_not_built", "other_driver_holds")
    )
    know = WHY
    silent_driver = _silent(failed)
    fixes: tuple[Fix, ...]
    if nouveau or (kernel is not None and either(kernel.nouveau_loaded, False)):
        summary, fixes = "nouveau holds the GPU, so NVIDIA's module cannot load.", (BLACKLIST,)
    elif other:
        summary, fixes = "Another kernel driver holds the GPU, mostly nouveau.", (BLACKLIST,)
        know = SEE_HOLDER
    elif unbuilt:
        kernel_name = unbuilt[0].values.get("kernel", "this")
        summary, fixes = f"NVIDIA's module does not compile for the kernel {kernel_name}.", (FITTING_KERNEL,)
        know = SEE_BUILD
    elif refused:
        summary, fixes = "Secure Boot refuses the NVIDIA kernel module.", (ENROL,)
    elif missing:
        summary, fixes = "There is no NVIDIA kernel module for this kernel.", (REBUILD, ENROL)
    elif silent_driver:
        summary, fixes = (
            "The NVIDIA kernel module is not loaded.",
            (REBUILD, ENROL, BLACKLIST) if _signs_itself(host) else (ENROL, REBUILD, BLACKLIST),
        )
    else:
        return
    lines = (*refused, *nouveau, *other, *unbuilt, *missing, *failed)
    weight = weigh_unusable(0.9, trial)
    yield log_finding(summary, weight, lines, *fixes, cause="kernel-module-not-loaded", know=know)
