"""How to give a TensorFlow build the CUDA libraries it needs: by pip, conda, container or hand, as it was installed.

One command for all would be tempting; pip's CUDA wheels inside conda or NVIDIA's container break what works there.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.sdk import (
    Action,
    Fix,
    Library,
    Missing,
    Packages,
    Risk,
    TensorFlow,
    cudnn_releases,
    either,
    search_path,
    tensorflow_releases,
    unblocks,
    versions,
)
from gpudoctor_checks.installing import release_for
from gpudoctor_checks.remedies import TURING, Package, advised_version, pin_cudnn, with_cuda

FIRST_WITH_EXTRA = "2.14"  # the and-cuda extra exists from 2.14 on (METADATA of the wheels)
# The wheel that brings each library, without the CUDA major at its end.
WHEELS = {
    "libcudart": "nvidia-cuda-runtime-cu",
    "libcublas": "nvidia-cublas-cu",
    "libcublasLt": "nvidia-cublas-cu",
    "libcufft": "nvidia-cufft-cu",
    "libcurand": "nvidia-curand-cu",
    "libcusolver": "nvidia-cusolver-cu",
    "libcusparse": "nvidia-cusparse-cu",
    "libcudnn": "nvidia-cudnn-cu",
}
CUDNN = "libcudnn.so"
NEEDS_NEWER_CUDNN = "conv-autotuner-old-cudnn"  # defect: this release cannot do with the cuDNN of pre-Turing GPUs
LOST_RUNPATH = ("missing-rpath", "cusolver-rpath-lost")  # defects: the wheels are there, TensorFlow does not look


def _fix(
    name: str,
    title: str,
    text: str,
    *,
    action: Action = "command",
    minutes: float = 2,
    risk: Risk = "low",
    release: str | None = None,
) -> Fix:
    return Fix(
        id=name,
        title=title,
        action=action,
        text=text,
        gain=unblocks("TensorFlow opens all its libraries at start"),
        effort_minutes=minutes,
        risk=risk,
        release=release,
    )


NGC_UNCHANGED = _fix(
    "start-container-unchanged",
    "Start NVIDIA's image unchanged",
    "docker run --gpus all IMAGE (without LD_LIBRARY_PATH, and without pip install of nvidia-* wheels)",
    action="manual",
)


def _by_hand(cuda: str, cudnn: str) -> Fix:
    return _fix(
        "install-cuda-by-hand",
        "Install the CUDA this build was made with",
        f"Install CUDA {cuda} and cuDNN {cudnn} and put their lib folder on LD_LIBRARY_PATH before Python starts",
        action="manual",
        minutes=40,
        risk="medium",
    )


def _conda_again(version: str, oldest: int) -> Fix:
    last = cudnn_releases.last_with(oldest) if oldest < TURING else None
    cudnn = f" 'cudnn{cudnn_releases.next_after(last)}'" if last else ""
    return _fix(
        "install-tensorflow",
        "Install conda-forge's CUDA build again",
        f"conda install -c conda-forge --force-reinstall 'tensorflow={version}=cuda*'{cudnn}",
        minutes=10,
    )


def provide_libraries(
    tensorflow: TensorFlow, absent: Sequence[Library], capabilities: Sequence[int], packages: Packages | None
) -> tuple[Fix, ...]:
    """Return the ways to make the absent libraries loadable, the surest first."""
    version = either(tensorflow.version, "")
    origin = either(tensorflow.origin, "unknown")
    cuda, cudnn = either(tensorflow.cuda_version, "the CUDA"), either(tensorflow.cudnn_version, "")
    by_hand = _by_hand(cuda, cudnn)
    cudnn_absent = any(each.soname.startswith(CUDNN) for each in absent)
    if origin == "conda":
        return (_conda_again(version, min(capabilities, default=TURING)),)
    if origin == "ngc":
        return (NGC_UNCHANGED,)
    if origin != "official_wheel" or not version:
        return (by_hand,)
    if not versions.at_least(version, FIRST_WITH_EXTRA):
        package = _newest_for(capabilities)
        newer = _fix(
            "install-tensorflow",
            "Or use a release that brings its CUDA along",
            f"pip install {package.words}",
            minutes=60,
            risk="medium",
            release=package.release,
        )
        return (by_hand, newer)
    oldest = min(capabilities, default=TURING)
    if oldest < TURING and cudnn_absent and tensorflow_releases.defect(NEEDS_NEWER_CUDNN, version):
        return (_with_extra("TensorFlow with a cuDNN for this GPU", version, capabilities),)
    wheels = [_wheel_of(each, cuda, packages, oldest) for each in absent]
    if all(wheels):
        return (mend_runpath(version) or _search(absent) or _reinstall(wheels),)
    return (_with_extra("TensorFlow with its CUDA libraries", version, capabilities),)


def _newest_for(capabilities: Sequence[int]) -> Package:
    release = release_for(capabilities, None, "")
    return with_cuda(release.latest if release is not None else advised_version(), capabilities)


def mend_runpath(version: str) -> Fix | None:
    """Return the cure of a TensorFlow that does not look into its own nvidia-* wheels, None for one that does."""
    defect = next((each for each in tensorflow_releases.defects_of(version) if each.id in LOST_RUNPATH), None)
    if defect is None:
        return None
    return _fix("mend-runpath", "Let TensorFlow find its nvidia-* wheels", defect.command, release=defect.release)


def _wheel_of(library: Library, cuda: str, packages: Packages | None, oldest: int) -> str:
    """Return "name==version" of the installed wheel that should bring the library, '' where it is not installed.

    A cuDNN that has no code for the oldest GPU here is not installed again: the last one that has is.
    """
    prefix = WHEELS.get(library.soname.partition(".so")[0], "")
    name = f"{prefix}{cuda.partition('.')[0]}"
    version = packages.version(name) if packages is not None and prefix else None
    if version and library.soname.startswith(CUDNN) and cudnn_releases.has_code_for(version, oldest) is False:
        return pin_cudnn(oldest)
    return f"{name}=={version}" if version else ""


def _search(absent: Sequence[Library]) -> Fix | None:
    """Return how to let the loader find files that are there but lie where it does not search, None where some are not."""
    if not all(isinstance(each.path, Missing) and each.shadows for each in absent):
        return None
    folders = search_path(dict.fromkeys(each.shadows[0].rpartition("/")[0] for each in absent))
    return _fix(
        "search-cuda-wheels",
        "Let the loader search where they lie",
        f"export LD_LIBRARY_PATH={folders}:$LD_LIBRARY_PATH",
    )


def _reinstall(wheels: Sequence[str]) -> Fix:
    names = " ".join(dict.fromkeys(wheels))
    return _fix(
        "reinstall-cuda-wheels",
        "Install the damaged CUDA wheels again",
        f"pip install --force-reinstall --no-deps {names}",
    )


def _with_extra(title: str, version: str, capabilities: Sequence[int]) -> Fix:
    """Return the installation with pip; where TensorRT pins of the extra cannot be resolved, without them."""
    release = tensorflow_releases.release_of(version)
    if release is not None and tensorflow_releases.defect("tensorrt-pin-py311", version):
        pins = " ".join(f"{name}{bound}" for name, bound in release.and_cuda.items() if not name.startswith("tensorrt"))
        return _fix("install-tensorflow", title, f"pip install {pins}")
    mended = tensorflow_releases.defect("tensorrt-libs-unavailable", version)
    if mended is not None:
        return _fix("install-tensorflow", title, mended.command, release=mended.release)
    package = with_cuda(version, capabilities)
    return _fix("install-tensorflow", title, f"pip install {package.words}", release=package.release)
