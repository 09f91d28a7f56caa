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

from collections.abc import Iterator

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
    versions,
    weigh_faulty,
    weigh_unusable,
)
from gpudoctor_checks.driver.driver_needed import need_ptx, of_the_cuda_build, of_the_gpu
from gpudoctor_checks.reach_driver import reach_driver

AFTERWARDS = 0.8  # certain for the build that will be needed, which is not installed yet
FOR_LATER = "the CUDA build of this release"


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
    later = "" if for_cuda else of_the_cuda_build(tensorflow, host, driver, capabilities)
    if not for_cuda and (not later or isinstance(driver.version, Missing)):
        raise NotApplicable("a CPU-only build")
    version: str = must_know(driver.version, "the driver version")
    runtime: str = later or must_know(tensorflow.cuda_version, "the CUDA version of this build")
    if cuda is not None and either(cuda.origin, "") == "compat" and either(cuda.cu_init, -1) == 0:
        raise NotApplicable("cuda-compat lets this driver run a newer CUDA")
    needed = cuda_toolkits.minimum_driver(runtime, windows=driver.windows_numbering)
    if needed is None:
        raise Inconclusive(f"no driver is known for CUDA {runtime}")
    needs_ptx = need_ptx(tensorflow, devices if for_cuda else None)
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
    finding = Finding(
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
        fixes=reach_driver(least, driver, capabilities, tensorflow, host, python),
    )
    yield of_the_gpu(finding, devices, runtime, least, windows=driver.windows_numbering)
