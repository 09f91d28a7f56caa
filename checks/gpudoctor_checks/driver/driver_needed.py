"""What a TensorFlow asks of the driver: for which CUDA, for whose PTX, and whether any driver of the GPU can give it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpudoctor.sdk import Devices, Driver, Finding, Host, TensorFlow, cuda_toolkits, either, tensorflow_releases
from gpudoctor_checks.installing import release_for
from gpudoctor_checks.libraries.gpu_code import coverage, named
from gpudoctor_checks.reach_driver import outlived, reachable

INSTALL_DRIVER = "install-driver"


def of_the_cuda_build(tensorflow: TensorFlow, host: Host | None, driver: Driver, capabilities: Sequence[int]) -> str:
    """Return the CUDA of the build that should replace a CPU-only wheel: else its driver is too old a day later.

    That is the build of this release, or for a GPU whose drivers all are too old for it, of the release advised instead.
    """
    linux = host is not None and either(host.os, "") == "linux" and either(host.arch, "") == "x86_64"
    if not linux or either(tensorflow.origin, "") != "official_wheel":
        return ""
    release = tensorflow_releases.release_of(either(tensorflow.version, "0.0"))
    windows = driver.windows_numbering
    needed = cuda_toolkits.minimum_driver((release.cuda_version or "") if release is not None else "", windows=windows)
    if needed and not reachable(needed, capabilities, windows=windows):
        release = release_for(capabilities, driver, "")
    return (release.cuda_version or "") if release is not None else ""


def need_ptx(tensorflow: TensorFlow, devices: Devices | None) -> tuple[str, ...]:
    """Return the names of the GPUs for which this build has no more than PTX, at least in part."""
    if devices is None:
        return ()
    pairs = zip(devices.names, devices.compute_capabilities, strict=True)
    return tuple(name for name, cc in pairs if coverage(tensorflow, cc) in {"partial", "ptx"})


def of_the_gpu(finding: Finding, devices: Devices | None, runtime: str, needed: str, *, windows: bool) -> Finding:
    """Return the finding about a driver that is too old; where no driver of the GPU is new enough, as one about the GPU.

    CUDA left such a GPU out, too. Only where the GPU's last driver is not here yet, that one is a part of the cure.
    """
    if devices is None or not outlived(needed, devices.compute_capabilities, windows=windows):
        return finding
    gpu = named(devices, min(devices.compute_capabilities))
    driver_helps = any(each.id == INSTALL_DRIVER for each in finding.fixes)
    return replace(
        finding,
        title="This GPU gets no driver for this TensorFlow",
        summary=f"No driver for {gpu} is new enough for CUDA {runtime}: {needed} is needed.",
        cause="" if driver_helps else "gpu-filtered",
    )
