"""GD204: the cuDNN that gets loaded is not one that this TensorFlow accepts.

What it does
    Compares the cuDNN that the loader would take, or that the probe really mapped, with the one TensorFlow was built
    with. TensorFlow wants the same major version and at least the same minor; newer minors are fine.

Why it matters
    TensorFlow lists the GPU, and dense layers train, but the first convolution, LSTM or batch normalisation fails:
    "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0", "DNN library is not found". Usual reasons:
    an older cuDNN stands first on LD_LIBRARY_PATH or in conda's lib folder, or another package (often PyTorch, which pins
    its own cuDNN wheel) replaced the one TensorFlow needs.

How to fix
    If a path shadows the right one, take that folder off LD_LIBRARY_PATH and restart Python.
    If the wheel itself is too old, raise it: pip install 'nvidia-cudnn-cu12>=9.3,<10'. Where PyTorch pins another
    cuDNN, keep the two frameworks in two environments.
    The driver is not the fault, and memory settings do not help.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Environment,
    Evidence,
    Finding,
    Kernel,
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
    tensorflow_releases,
    versions,
)
from gpudoctor_checks.libraries.cudnn_wheels import drop_folder, raise_cudnn
from gpudoctor_checks.libraries.dense_trial import weigh_cudnn
from gpudoctor_checks.presence import gpu_present


@check(
    code="GD204",
    slug="cudnn-version",
    title="TensorFlow does not accept this cuDNN",
    family="libraries",
    cause="cudnn-version",
)
def unaccepted(
    libraries: Libraries,
    tensorflow: TensorFlow,
    driver: Driver | None,
    kernel: Kernel | None,
    devices: Devices | None,
    env: Environment | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Apply TensorFlow's own rule to the cuDNN that would be loaded."""
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build")
    if gpu_present(driver, kernel) is False:
        raise NotApplicable("no GPU that could use cuDNN")
    library = libraries.find("libcudnn.so")
    if library is None:
        raise Skip("cuDNN was not looked for")
    found = must_know(library.version, "the version of the cuDNN that would be loaded")
    built = _built_with(tensorflow)
    if len(versions.parse(found)) < 2:
        raise Skip(f"not a cuDNN version: {found}")
    if cudnn_releases.accepts(built, found):
        return
    weight = weigh_cudnn(0.95, baseline)
    path = str(either(library.path, "unknown"))
    shadowed = library.shadows[0] if library.shadows else ""
    by_path = either(library.origin, "") == "ld_library_path"
    yield Finding(
        summary=f"cuDNN {found} gets loaded, but this TensorFlow needs {built} or a newer {built.partition('.')[0]}.x.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="gets loaded", value=f"{found}: {path}", source=either(library.version_from, "loader")),
            Evidence(label="stands first by", value=either(library.origin, "unknown"), source="loader"),
            Evidence(label="shadows", value=shadowed or "nothing", source="search order"),
            Evidence(label="built with cuDNN", value=built, source="build"),
        ),
        fixes=(
            *((drop_folder(library, env),) if by_path else ()),
            *(() if by_path and shadowed else raise_cudnn(tensorflow, built, devices)),
        ),
    )


def _built_with(tensorflow: TensorFlow) -> str:
    """Return the oldest cuDNN that is accepted: the table's for an official wheel, whose own files name the major only."""
    release = tensorflow_releases.release_of(either(tensorflow.version, ""))
    if either(tensorflow.origin, "") == "official_wheel" and release is not None and release.cudnn_version:
        return release.cudnn_version
    return must_know(tensorflow.cudnn_version, "the cuDNN this build was made with")
