"""GD101: the driver is older than the CUDA runtime of this TensorFlow needs.

What it does
    Compares the driver with the CUDA version that TensorFlow was built with, by two rules. Binary code (SASS) runs on
    any driver from a fixed number on: 450.80.02 for CUDA 11, 525.60.13 for CUDA 12. Code that comes as PTX must be
    compiled by the driver, and then the driver must know that PTX version: it must be as new as the toolkit itself.
    On WSL the Windows driver numbers are compared.

Why it matters
    With a driver that is too old TensorFlow finds no GPU ("CUDA driver version is insufficient for CUDA runtime
    version"), or, where only PTX is the trouble, fails at the first kernel with error 222, unsupported PTX version.
    An H100 needs PTX for most kernels of the official wheels 2.16 and newer, so a driver that serves an A100 well may
    not serve an H100.

How to fix
    Install a newer driver: on the host for a container, on Windows for WSL. A newer driver runs everything that an
    older one ran. The "CUDA Version" in nvidia-smi is the newest CUDA that the driver supports, not what is installed;
    installing another CUDA toolkit does not help. If the driver cannot be changed, use an older TensorFlow. Where no driver
    of the GPU is new enough (R390 is the last for Fermi, R470 for Kepler), the GPU is the cause and not the driver: an older
    TensorFlow, or another GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.sdk import (
    Cuda,
    Devices,
    Driver,
    Evidence,
    Finding,
    Host,
    Inconclusive,
    Missing,
    NotApplicable,
    Python,
    Severity,
    TensorFlow,
    Trial,
    Weight,
    check,
    cuda_toolkits,
    either,
    must_know,
    tensorflow_releases,
    versions,
    weigh_faulty,
    weigh_unusable,
)
from gpudoctor_checks.installing import release_for
from gpudoctor_checks.libraries.gpu_code import coverage, named
from gpudoctor_checks.reach_driver import outlived, reach_driver, reachable

AFTERWARDS = 0.8  # certain for the build that will be needed, which is not installed yet
FOR_LATER = "the CUDA build of this release"
DRIVER = "install-driver"


@check(
    code="GD101",
    slug="driver-too-old",
    title="Driver too old for this TensorFlow's CUDA",
    family="driver",
    cause=("driver-too-old", "gpu-filtered"),
)
def too_old(
    driver: Driver,
    tensorflow: TensorFlow,
    devices: Devices | None,
    cuda: Cuda | None,
    host: Host | None,
    python: Python | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Ask for the driver of the CUDA major; where PTX is needed, for the driver that compiles it."""
    for_cuda: bool = must_know(tensorflow.is_cuda_build, "whether this build has CUDA")
    capabilities = devices.compute_capabilities if devices is not None else ()
    later = "" if for_cuda else _of_the_cuda_build(tensorflow, host, driver, capabilities)
    if not for_cuda and (not later or isinstance(driver.version, Missing)):
        raise NotApplicable("a CPU-only build")
    version: str = must_know(driver.version, "the driver version")
    runtime: str = later or must_know(tensorflow.cuda_version, "the CUDA version of this build")
    if cuda is not None and either(cuda.origin, "") == "compat" and either(cuda.cu_init, -1) == 0:
        raise NotApplicable("cuda-compat lets this driver run a newer CUDA")
    needed = cuda_toolkits.minimum_driver(runtime, windows=driver.windows_numbering)
    if needed is None:
        raise Inconclusive(f"no driver is known for CUDA {runtime}")
    needs_ptx = _need_ptx(tensorflow, devices if for_cuda else None)
    ptx = cuda_toolkits.ptx_driver(runtime, windows=driver.windows_numbering) if needs_ptx else None
    least = needed
    if not versions.at_least(version, needed):
        weight = weigh_unusable(0.9, baseline) if for_cuda else Weight(confidence=AFTERWARDS, basis=FOR_LATER)
        summary = f"Driver {version} is too old for CUDA {runtime}: {needed} or newer is needed."
    elif ptx is not None and not versions.at_least(version, ptx):
        weight = weigh_faulty(0.75, baseline)  # the rule was read in ptxas, not seen on such a machine
        least = ptx
        summary = f"Driver {version} cannot compile the PTX that {needs_ptx[0]} needs: {ptx} or newer can."
    else:
        return
    fixes = reach_driver(least, driver, capabilities, tensorflow, host, python)
    of_gpu = devices is not None and outlived(least, capabilities, windows=driver.windows_numbering)
    if devices is not None and of_gpu:
        summary = f"No driver for {named(devices, min(capabilities))} is new enough for CUDA {runtime}: {least} is needed."
    yield Finding(
        title="This GPU gets no driver for this TensorFlow" if of_gpu else "",
        summary=summary,
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="driver", value=version, source=either(driver.version_from, "driver")),
            Evidence(label="supports CUDA up to", value=either(driver.cuda_version, "unknown"), source="driver"),
            Evidence(label="CUDA of the build", value=runtime, source=FOR_LATER if later else "build"),
            Evidence(label="needs for binary code", value=needed, source="NVIDIA CUDA Compatibility guide"),
            Evidence(label="needs for PTX", value=ptx or "not needed", source="CUDA toolkit release notes"),
        ),
        fixes=fixes,
        # CUDA left such a GPU out, too; where its last driver is not here yet, that one is a part of the cure
        cause="gpu-filtered" if of_gpu and not any(each.id == DRIVER for each in fixes) else "",
    )


def _of_the_cuda_build(tensorflow: TensorFlow, host: Host | None, driver: Driver, capabilities: Sequence[int]) -> str:
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


def _need_ptx(tensorflow: TensorFlow, devices: Devices | None) -> tuple[str, ...]:
    if devices is None:
        return ()
    pairs = zip(devices.names, devices.compute_capabilities, strict=True)
    return tuple(name for name, cc in pairs if coverage(tensorflow, cc) in {"partial", "ptx"})
