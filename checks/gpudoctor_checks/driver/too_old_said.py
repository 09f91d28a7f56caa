"""A driver that a text shows to be too old: for TensorFlow's CUDA, or for the CUDA that a container's image states."""

from __future__ import annotations

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
    cuda_toolkits,
    tensorflow_releases,
    weigh_unusable,
)
from gpudoctor_checks.driver.misfit_remedies import OLDER_IMAGE
from gpudoctor_checks.reach_driver import reach_driver
from gpudoctor_checks.said import log_finding, release


def older_than_asked(
    log: Log,
    lines: tuple[LogEvent, ...],
    host: Host | None,
    devices: Devices | None,
    driver: Driver | None,
    tensorflow: TensorFlow | None,
    python: Python | None,
    trial: Trial | None,
) -> Finding:
    """Return the finding, with the driver that would do; for an image also another image."""
    capabilities = devices.compute_capabilities if devices is not None else ()
    build = tensorflow or TensorFlow(origin="official_wheel")
    image = next((each.values["cuda"] for each in lines if "cuda" in each.values), "")
    runtime = f" of TensorFlow {release(None, log)}" if release(None, log) else ""
    least = (cuda_toolkits.minimum_driver(image) or "0") if image else _needed(release(tensorflow, log))
    reach = reach_driver(least, driver or Driver(), capabilities, build, host, python)
    return log_finding(
        f"The host's driver is older than the image's CUDA {image} needs."
        if image
        else f"The driver is older than the CUDA runtime{runtime} needs.",
        weigh_unusable(0.9, trial),
        lines,
        *(reach if not image else (*reach[:1], OLDER_IMAGE)),
        cause="driver-too-old",
        know="nvidia-smi",
    )


def _needed(version: str) -> str:
    """Return the least driver of that TensorFlow; of an unknown one, that of any."""
    known = tensorflow_releases.release_of(version)
    return (cuda_toolkits.minimum_driver(known.cuda_version or "") if known is not None else None) or "0"
