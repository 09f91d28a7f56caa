"""GD152: the log of a run shows driver parts that do not fit together.

What it does
    Reads the versions of libcuda and kernel module, NVML's complaint, "driver version is insufficient" and cuInit's 803
    and 804 from the text of a run.

Why it matters
    After an update of the driver the old kernel module stays loaded until a reboot; a container can carry a libcuda of
    its own. Error 804 speaks of forward compatibility even where only the versions differ.

How to fix
    Versions differ on a machine: reboot. In a container: keep driver packages out of the image, and start it again after
    an update of the host. Driver older than the CUDA runtime: a newer driver; another toolkit does not help.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Finding,
    Host,
    Log,
    LogEvent,
    Python,
    TensorFlow,
    Trial,
    check,
    either,
    versions,
    weigh_unusable,
)
from gpudoctor_checks.driver.misfit_remedies import CLEAN_IMAGE, DROP_COMPAT, RECREATE
from gpudoctor_checks.driver.too_old_said import older_than_asked
from gpudoctor_checks.remedies import REBOOT
from gpudoctor_checks.said import container_of, events, log_finding

TOO_OLD_CODES = frozenset({"35"})  # cudaErrorInsufficientDriver, driver_types.h
MISMATCH, COMPAT = "803", "804"  # CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ..._COMPAT_NOT_SUPPORTED_ON_DEVICE, cuda.h
DRIVER_FIRST = ("driver_library_mismatch", "driver_too_old", "nvidia_smi_failed", "nvml_failed", "module_refused")
SEE = "cat /proc/driver/nvidia/version; ldconfig -p | grep libcuda; nvidia-smi"


@check(
    code="GD152",
    slug="driver-parts-in-log",
    title="The log shows a driver that does not fit",
    family="driver",
    cause=("driver-library-mismatch", "driver-too-old", "forward-compat"),
    core=False,
)
def do_not_fit(
    log: Log,
    host: Host | None,
    devices: Devices | None,
    driver: Driver | None,
    tensorflow: TensorFlow | None,
    python: Python | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Compare versions first: what differs explains the other messages."""
    differ = _differ(log)
    nvml = [each for each in events(log, "nvml_failed") if "mismatch" in each.values.get("error", "")]
    inits = events(log, "cuinit_failed")
    said = [each for each in inits if each.values.get("code") == MISMATCH]
    compat = [each for each in inits if each.values.get("code") == COMPAT]
    newer = _newer_than_host(log, driver)
    if differ or nvml or said:
        inside = container_of(host)
        fixes = (REBOOT,) if not inside else (CLEAN_IMAGE, RECREATE) if differ or newer else (RECREATE, REBOOT)
        yield log_finding(
            "The driver's libraries and the loaded kernel module are of different versions.",
            weigh_unusable(0.95, baseline),
            (*differ, *newer, *nvml, *said, *compat),
            *fixes,
            cause="driver-library-mismatch",
            know=SEE,
        )
        return
    if compat:
        yield log_finding(
            "cuda-compat is used where forward compatibility is not supported.",
            weigh_unusable(0.7, baseline),
            compat,
            DROP_COMPAT,
            cause="forward-compat",
            know=SEE,
        )
    too_old = (*events(log, "driver_too_old"), *(each for each in inits if each.values.get("code") in TOO_OLD_CODES))
    if too_old:
        yield older_than_asked(log, too_old, host, devices, driver, tensorflow, python, baseline)


def _newer_than_host(log: Log, driver: Driver | None) -> tuple[LogEvent, ...]:
    """Return the line with the library's own version where the driver is known to be of another branch."""
    told = either(driver.version, "") if driver is not None else ""
    lines = [each for each in events(log, "driver_reported") if "nvml" in each.values]
    return tuple(each for each in lines if told and versions.parse(told)[:1] != versions.parse(each.values["nvml"])[:1])


def _differ(log: Log) -> tuple[LogEvent, ...]:
    told = events(log, "driver_library_mismatch")
    if told:
        return told
    library = next((each for each in events(log, "driver_reported") if "library" in each.values), None)
    kernel = next((each for each in events(log, "driver_reported") if "kernel" in each.values), None)
    if library is None or kernel is None:
        return ()
    same = versions.parse(library.values["library"]) == versions.parse(kernel.values["kernel"])
    return () if same else (library, kernel)
