"""GD153: the log shows that the driver does not answer nvidia-smi.

What it does
    Reads what nvidia-smi and NVML print where they fail, what the kernel says of a module that it refuses or that nouveau
    keeps out, and which device nodes a container's group may still open.

Why it matters
    The GPU is lost for TensorFlow, too. The message is the same for a module that Secure Boot refuses, one that was not
    built for a new kernel, and nouveau; in a container it mostly means that its permissions were rewritten.

How to fix
    Ask first why the module is not loaded: Secure Boot, nouveau, or a new kernel. In a container that worked before:
    create it again, then keep systemd from taking the nodes away. Another CUDA or TensorFlow changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Host, Kernel, Log, Trial, check, either, weigh_unusable
from gpudoctor_checks.driver.silent_remedies import (
    AGAIN,
    BLACKLIST,
    ENROL,
    JOIN_GROUP,
    KEEP,
    MAKE_INSTANCE,
    MIG_OFF,
    READ_ONLY,
    REBUILD,
    WHY,
)
from gpudoctor_checks.said import container_of, events, log_finding


@check(
    code="GD153",
    slug="driver-silent-in-log",
    title="The log says the driver does not answer",
    family="driver",
    cause=("kernel-module-not-loaded", "nvml-lost-in-container", "device-permission-mode", "mig"),
    core=False,
)
def silent(log: Log, host: Host | None, kernel: Kernel | None, baseline: Trial | None) -> Iterator[Finding]:
    """Tell a refused module from a container that lost its permissions."""
    empty = events(log, "mig_empty")
    if empty:
        weight = weigh_unusable(0.9, baseline)
        summary = "MIG mode is on, but there is no instance to compute on."
        yield log_finding(
            summary, weight, empty, MAKE_INSTANCE, MIG_OFF, cause="mig", know="nvidia-smi -L; nvidia-smi mig -lgi"
        )
        return
    failed = events(log, "nvml_failed", "nvidia_smi_failed")
    errors = " ".join(each.values.get("error", "").lower() for each in failed)
    refused, nouveau = events(log, "module_refused"), events(log, "nouveau_holds")
    missing = events(log, "module_missing")
    held = bool(nouveau) or (kernel is not None and either(kernel.nouveau_loaded, False))
    groups = [each for each in events(log, "device_cgroup") if each.values.get("mode") in READ_ONLY]
    if groups or (
        "unknown error" in errors and (container_of(host) or host is None or either(host.container, "?") == "?")
    ):
        yield log_finding(
            "A container lost the permission to open its GPU; the host's driver is fine.",
            weigh_unusable(0.9 if groups or container_of(host) else 0.6, baseline),
            (*failed, *groups),
            AGAIN,
            KEEP,
            cause="nvml-lost-in-container",
            know="nvidia-smi -L  # on the host, then in the container",
        )
    elif "permission" in errors:
        weight = weigh_unusable(0.85, baseline)
        yield log_finding(
            "This user may not open the GPU's device nodes.", weight, failed, JOIN_GROUP, cause="device-permission-mode"
        )
    elif (
        held
        or refused
        or nouveau
        or missing
        or any(each.kind == "nvidia_smi_failed" for each in failed)
        or "not loaded" in errors
    ):
        fixes = (
            (BLACKLIST,)
            if held
            else (ENROL,)
            if refused
            else (REBUILD, ENROL)
            if missing
            else (ENROL, REBUILD, BLACKLIST)
        )
        yield log_finding(
            "nouveau holds the GPU, so NVIDIA's module cannot load."
            if held
            else "Secure Boot refuses the NVIDIA kernel module."
            if refused
            else "The NVIDIA kernel module is not loaded.",
            weigh_unusable(0.9, baseline),
            (*refused, *nouveau, *missing, *failed),
            *fixes,
            cause="kernel-module-not-loaded",
            know=WHY,
        )
