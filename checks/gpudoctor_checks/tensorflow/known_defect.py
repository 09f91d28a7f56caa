"""GD304: this TensorFlow release has a known defect that strikes here.

What it does
    Knows the defects of the official wheels, and for each the condition under which it strikes: the libraries found, the
    cuDNN loaded, the packages installed. It reports one only where the condition is met on this machine.

Why it matters
    Some releases lose the GPU although everything is installed as the guide says. 2.16.1 does not look for cuDNN, cuBLAS
    and three others in the nvidia-* wheels, 2.21.0 not for cuSOLVER: the folders are missing in the library search path
    (RUNPATH) inside TensorFlow. 2.21.0 with cuDNN 9.5 fails in convolutions. 2.4 to 2.9 take a protobuf that is too new.

How to fix
    Each finding names its cure: the next patch release, a library path, or another version of one package. Nothing else
    has to be installed again; the driver and a system-wide CUDA are not at fault.
    NVIDIA's containers, conda-forge and source builds are judged by their own files, not by this list.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Driver,
    Evidence,
    Finding,
    Fix,
    Kernel,
    Libraries,
    NotApplicable,
    Packages,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    tensorflow_releases,
    unblocks,
)
from gpudoctor_checks.presence import gpu_present
from gpudoctor_checks.tensorflow.defect_conditions import RUNPATH_LOST, weigh

WHAT = {
    "missing-rpath": "it does not look for its CUDA libraries in the nvidia-* wheels",
    "cusolver-rpath-lost": "it does not look for cuSOLVER in the nvidia-* wheels",
    "conv-autotuner-old-cudnn": "its convolutions fail with the cuDNN that gets loaded",
    "protobuf-unbounded": "the installed protobuf is too new for it",
    "libdevice-not-found": "XLA finds no libdevice, so training fails",
}


@check(
    code="GD304",
    slug="known-defect",
    title="A known defect of this TensorFlow strikes",
    family="tensorflow",
    cause=("and-cuda-wheels", "cudnn-version", "protobuf", "xla-libdevice-ptxas"),
)
def struck(
    tensorflow: TensorFlow,
    libraries: Libraries | None,
    packages: Packages | None,
    driver: Driver | None,
    kernel: Kernel | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Report each defect of exactly this version whose condition is met."""
    origin = must_know(tensorflow.origin, "where this TensorFlow comes from")
    if origin != "official_wheel":
        raise NotApplicable(f"not an official wheel ({origin})")
    version = must_know(tensorflow.version, "the TensorFlow version")
    if gpu_present(driver, kernel) is False or either(tensorflow.is_cuda_build, True) is False:
        raise NotApplicable("a CPU-only build, or no GPU")
    for defect in tensorflow_releases.defects_of(version):
        weight = weigh(defect, tensorflow, libraries, packages, baseline)
        if weight is None:
            continue
        yield Finding(
            summary=f"TensorFlow {version}: {WHAT[defect.id]}.",
            severity=Severity.WARNING if defect.id == "conv-autotuner-old-cudnn" else Severity.ERROR,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=(
                Evidence(label="defect", value=defect.id, source=defect.source),
                Evidence(label="strikes with", value=defect.conditions or "always", source=defect.evidence),
                *(Evidence(label="reported in", value=issue, source="issue thread") for issue in defect.issues[:2]),
            ),
            fixes=(_fix(defect),),
            cause=defect.cause or "",
        )


def _fix(defect: tensorflow_releases.Defect) -> Fix:
    lost = defect.id in RUNPATH_LOST
    return Fix(
        id="mend-runpath" if lost else f"defect-{defect.id}",  # GD203 gives the same cure under the same id
        title="Let TensorFlow find its nvidia-* wheels" if lost else "Avoid the defect",
        action="command" if defect.command else "manual",
        text=defect.command or defect.workaround,
        gain=unblocks("the defect is gone"),
        effort_minutes=2,
        release=defect.release,
    )
