"""GD203: a CUDA or cuDNN library that TensorFlow needs cannot be loaded.

What it does
    Takes each library that this build opens at start, finds the file that the loader would take (LD_LIBRARY_PATH, the
    folders built into TensorFlow, the system's), and tries to load it.

Why it matters
    If one of them is missing TensorFlow leaves out every GPU ("Cannot dlopen some GPU libraries. Skipping registering
    GPU devices...") and trains on the CPU. At the default log level it does not say which one it was.

How to fix
    Official wheel 2.14 or newer: pip install 'tensorflow[and-cuda]==<your version>' brings the right set into the
    environment; no CUDA on the system is needed. Libraries of another major version have other file names: CUDA 12 does
    not serve a TensorFlow built for CUDA 11, and a symbolic link under the old name does not make it fit.
    conda: install conda-forge's CUDA build again, without pip's CUDA wheels beside it. NVIDIA's container: start it
    unchanged. A source build: install the CUDA and cuDNN it was built with, and put their folder on LD_LIBRARY_PATH.
    The driver is not the fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Evidence,
    Finding,
    Kernel,
    Libraries,
    Library,
    Missing,
    NotApplicable,
    Packages,
    Severity,
    Skip,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    weigh_unusable,
)
from gpudoctor_checks.libraries.provide import provide_libraries
from gpudoctor_checks.presence import gpu_present

# The libraries whose absence hides every GPU: the list in TryDlopenCUDALibraries (tensorflow_releases). NCCL, CUPTI and
# NVRTC are opened later, by those who use them.
LATER = ("libnccl.so", "libcupti.so", "libnvrtc.so", "libnvJitLink.so", "libnvshmem")
NAMES = {
    "libcudnn": "cuDNN",
    "libcudart": "the CUDA runtime",
    "libcublas": "cuBLAS",
    "libcublasLt": "cuBLASLt",
    "libcufft": "cuFFT",
    "libcurand": "cuRAND",
    "libcusolver": "cuSOLVER",
    "libcusparse": "cuSPARSE",
}


@check(
    code="GD203",
    slug="missing-cuda-libs",
    title="A CUDA or cuDNN library cannot be loaded",
    family="libraries",
    cause="missing-cuda-libs",
)
def missing(
    libraries: Libraries,
    tensorflow: TensorFlow,
    driver: Driver | None,
    kernel: Kernel | None,
    devices: Devices | None,
    packages: Packages | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find the libraries that the loader does not find or cannot load."""
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build needs no CUDA")
    present = gpu_present(driver, kernel)
    if present is False:
        raise NotApplicable("no GPU that could use them")
    needed = [each for each in libraries.items if each.needed and not each.soname.startswith(LATER)]
    if not needed:
        raise Skip("which libraries this build needs is unknown")
    absent = [each for each in needed if _absent(each)]
    if not absent:
        unknown = [each.soname for each in needed if isinstance(each.path, Missing)]
        if unknown:
            raise Skip(f"not searched for: {', '.join(unknown)}")
        return
    weight = weigh_unusable(0.95 if present else 0.8, baseline)
    usable = either(driver.usable, False) if driver is not None else False
    yield Finding(
        summary=f"This TensorFlow cannot load {_name(absent[0])}."
        if len(absent) == 1
        else f"This TensorFlow cannot load {len(absent)} of its {len(needed)} CUDA libraries.",
        severity=Severity.ERROR if present else Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *(Evidence(label=each.soname, value=_why(each), source="loader") for each in absent),
            Evidence(label="driver", value=_driver(driver) if usable else "not usable yet", source="libcuda"),
        ),
        fixes=provide_libraries(
            tensorflow, absent, devices.compute_capabilities if devices is not None else (), packages
        ),
    )


def _absent(library: Library) -> bool:
    if isinstance(library.path, Missing):
        return library.path.reason != "not collected"
    return either(library.loadable, True) is False


def _why(library: Library) -> str:
    if isinstance(library.path, Missing) and library.shadows:
        return f"not searched for in {library.shadows[0].rpartition('/')[0]}"
    if isinstance(library.path, Missing):
        return "not in wheels, system or LD_LIBRARY_PATH"
    return f"{library.path}: {either(library.error, 'cannot be loaded')}"[:200]


def _name(library: Library) -> str:
    stem, _, number = library.soname.partition(".so")
    return f"{NAMES.get(stem, stem)} {number.lstrip('.')}".strip()


def _driver(driver: Driver | None) -> str:
    count = either(driver.device_count, 0) if driver is not None else 0
    return f"fine: cuInit 0, {count} device{'s' if count != 1 else ''}"
