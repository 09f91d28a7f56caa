"""GD205: the installed cuDNN has no code for this GPU.

What it does
    Looks up whether the cuDNN that gets loaded still has code for the GPU's architecture.

Why it matters
    cuDNN 9.11 dropped Maxwell, Pascal and Volta (P100, V100, GTX 10xx, Titan V). TensorFlow itself still supports
    Pascal and Volta, and since 2.20 its and-cuda extra no longer pins cuDNN: a fresh install today gets one without
    code for these GPUs. Dense layers train; convolutions, recurrent layers and normalisation fail or crash.

How to fix
    Keep the last cuDNN that has the code: pip install 'nvidia-cudnn-cu12<9.11'. With TensorFlow 2.21 go back to 2.20
    as well: its convolutions fail with older cuDNN versions. conda: conda install -c conda-forge 'cudnn<9.11'.
    A newer driver or more memory cannot help.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Evidence,
    Finding,
    Inconclusive,
    Libraries,
    NotApplicable,
    Severity,
    Skip,
    TensorFlow,
    Trial,
    check,
    cudnn_releases,
    either,
    must_know,
)
from gpudoctor_checks.libraries.cudnn_wheels import keep_older_cudnn
from gpudoctor_checks.libraries.dense_trial import weigh_cudnn
from gpudoctor_checks.libraries.gpu_code import lowest, named


@check(
    code="GD205",
    slug="cudnn-dropped-gpu",
    title="The installed cuDNN has no code for this GPU",
    family="libraries",
    cause="cudnn-dropped-gpu",
)
def dropped(
    libraries: Libraries, devices: Devices, tensorflow: TensorFlow, baseline: Trial | None
) -> Iterator[Finding]:
    """Find GPUs that are too old for the cuDNN; those that are too new are judged by TensorFlow's own code."""
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build")
    library = libraries.find("libcudnn.so")
    if library is None:
        raise Skip("cuDNN was not looked for")
    version = must_know(library.version, "the version of the cuDNN that would be loaded")
    if (release := cudnn_releases.release_of(version)) is None:
        raise Inconclusive(f"cuDNN {version} is not in the table")
    used = _used(tensorflow, devices)
    if devices.compute_capabilities and not used:
        raise NotApplicable("TensorFlow leaves this GPU out, whatever the cuDNN: see GD206")
    judged = {cc: cudnn_releases.has_code_for(version, cc) for cc in used if cc < release.min_cc}
    if None in judged.values():
        raise Inconclusive(f"whether cuDNN {version} has code for this GPU is not known")
    without = sorted(judged)
    if not without:
        return
    oldest = without[0]
    last = cudnn_releases.last_with(oldest)
    weight = weigh_cudnn(0.95, baseline)
    yield Finding(
        summary=f"cuDNN {version} has no code for {named(devices, oldest)}"
        + (f"; {last} is the last with." if last else "."),
        severity=Severity.ERROR if len(without) == len(set(used)) else Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="cuDNN", value=version, source=either(library.version_from, "loader")),
            _capability("its oldest GPU", release.min_cc, "cuDNN wheels"),
            _capability("this GPU", oldest, "libcuda"),
        ),
        fixes=keep_older_cudnn(tensorflow, oldest, last),
    )


def _capability(label: str, number: int, source: str) -> Evidence:
    return Evidence(label=label, value=f"{number // 10}.{number % 10}", unit="compute capability", source=source)


def _used(tensorflow: TensorFlow, devices: Devices) -> list[int]:
    """Return the GPUs that this build does not leave out."""
    least = lowest(tensorflow) if either(tensorflow.compute_capabilities, ()) else 0
    return [cc for cc in devices.compute_capabilities if cc >= least]
