"""GD207: this TensorFlow build has no code that can run on the GPU.

What it does
    Compares the GPU's compute capability with the code in the build: binary code (SASS), which runs on the same major
    version only, and PTX, which the driver can compile for newer GPUs if it is new enough.

Why it matters
    Without code TensorFlow lists the GPU and fails at the first operation: "no kernel image is available", or on
    Blackwell (RTX 50, RTX PRO Blackwell, B200) CUDA_ERROR_INVALID_PTX, then CUDA_ERROR_INVALID_HANDLE, and from XLA "PTX
    version 8.5 does not support target sm_120". No official wheel up to 2.22.0rc0 has Blackwell code.

How to fix
    Blackwell: use NVIDIA's TensorFlow container, or a build made with CUDA 12.8 or newer for compute capability 10.0
    or 12.0; Keras also trains on JAX or PyTorch (KERAS_BACKEND=jax).
    Older GPU: use a release that still has its code.
    Another driver or another CUDA on the machine cannot help: the code is inside TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Evidence,
    Finding,
    Fix,
    NotApplicable,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    unblocks,
    weigh_faulty,
)
from gpudoctor_checks.libraries.gpu_code import BLACKWELL, capabilities, coverage, lowest, named
from gpudoctor_checks.remedies import RUN_NGC, install_release_for


@check(
    code="GD207",
    slug="no-code-for-gpu",
    title="The build has no code for this GPU",
    family="libraries",
    cause=("no-kernel", "blackwell"),
)
def no_code(
    tensorflow: TensorFlow, devices: Devices, python: Python | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Find GPUs with neither binary code nor PTX that works; those below the build's minimum are GD206's."""
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build")
    least = lowest(tensorflow)
    judged = [cc for cc in devices.compute_capabilities if cc >= least]
    without = sorted({cc for cc in judged if coverage(tensorflow, cc) in {"none", "ptx-broken"}})
    if not without:
        return
    newest = without[-1]
    blackwell = newest >= BLACKWELL
    binary, ptx = capabilities(tensorflow)
    weight = weigh_faulty(0.9 if not blackwell else 0.85, baseline)
    alone = all(cc in without for cc in devices.compute_capabilities)
    yield Finding(
        summary=f"TensorFlow {either(tensorflow.version, '')} has no code for {named(devices, newest)}.",
        severity=Severity.ERROR if alone else Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="GPU", value=named(devices, newest), source="libcuda"),
            Evidence(label="binary code", value=", ".join(map(str, binary)) or "none", source="build"),
            Evidence(label="PTX", value=", ".join(map(str, ptx)) or "none", source="build"),
            Evidence(label="built with CUDA", value=either(tensorflow.cuda_version, "unknown"), source="build"),
        ),
        fixes=(RUN_NGC,) if blackwell else install_release_for(newest, tensorflow, python) or (_build_for(newest),),
        cause="blackwell" if blackwell else "no-kernel",
    )


def _build_for(capability: int) -> Fix:
    """Return the way out for who built TensorFlow: TF_CUDA_COMPUTE_CAPABILITIES of its configure script."""
    code = f"sm_{capability},compute_{capability}"
    return Fix(
        id="build-for-this-gpu",
        title="Build TensorFlow with code for this GPU",
        action="command",
        text=f"export TF_CUDA_COMPUTE_CAPABILITIES={code}   # then ./configure and build again",
        gain=unblocks("its code runs here"),
        risk="medium",
        effort_minutes=240,
    )
