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

from gpudoctor.sdk import Finding, Gpus, Host, Kernel, Log, Trial, check, either, weigh_unusable
from gpudoctor_checks.driver.mig_instances import ONE_EACH
from gpudoctor_checks.driver.silent_reasons import by_windows, not_loaded
from gpudoctor_checks.driver.silent_remedies import (
    AGAIN,
    JOIN_GROUP,
    KEEP,
    MAKE_INSTANCE,
    MIG_OFF,
    READ_ONLY,
)
from gpudoctor_checks.said import container_of, events, log_finding, on_windows, on_wsl

SECOND_INSTANCE = 0.7  # policy: MIG mode is known, which instance was asked for is not


@check(
    code="GD153",
    slug="driver-silent-in-log",
    title="The log says the driver does not answer",
    family="driver",
    cause=("kernel-module-not-loaded", "nvml-lost-in-container", "device-permission-mode", "mig"),
    core=False,
)
def silent(
    log: Log, host: Host | None, kernel: Kernel | None, gpus: Gpus | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Tell a refused module from a container that lost its permissions."""
    none_for_this = events(log, "no_supported_device")
    if none_for_this and gpus is not None and any(either(each.mig_mode, "") == "enabled" for each in gpus):
        weight, know = weigh_unusable(SECOND_INSTANCE, baseline), 'nvidia-smi -L; echo "$CUDA_VISIBLE_DEVICES"'
        summary = "A process sees one MIG instance only; this one asks for another, or for none that exists."
        yield log_finding(summary, weight, none_for_this, ONE_EACH, cause="mig", know=know)
    failed = events(log, "nvml_failed", "nvidia_smi_failed")
    errors = " ".join(each.values.get("error", "").lower() for each in failed)
    groups = [each for each in events(log, "device_cgroup") if each.values.get("mode") in READ_ONLY]
    may_be_inside = container_of(host) or host is None or either(host.container, "?") == "?"
    if empty := events(log, "mig_empty"):
        weight, know = weigh_unusable(0.9, baseline), "nvidia-smi -L; nvidia-smi mig -lgi"
        summary = "MIG mode is on, but there is no instance to compute on."
        yield log_finding(summary, weight, empty, MAKE_INSTANCE, MIG_OFF, cause="mig", know=know)
    elif groups or ("unknown error" in errors and may_be_inside):
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
        weight, summary = weigh_unusable(0.85, baseline), "This user may not open the GPU's device nodes."
        yield log_finding(summary, weight, failed, JOIN_GROUP, cause="device-permission-mode")
    elif on_wsl(host) or on_windows(host):
        yield from by_windows(failed, host, baseline)
    else:
        yield from not_loaded(log, failed, kernel, host, baseline)
