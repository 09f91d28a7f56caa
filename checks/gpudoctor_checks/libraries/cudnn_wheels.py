"""How to bring the right cuDNN under a TensorFlow build: newer, or older for an older GPU, by the way it was installed."""

from __future__ import annotations

from gpudoctor.sdk import (
    Devices,
    Environment,
    Fix,
    Library,
    TensorFlow,
    cudnn_releases,
    either,
    search_path,
    tensorflow_releases,
    unblocks,
    versions,
)
from gpudoctor_checks.remedies import with_cuda

PATH = "LD_LIBRARY_PATH"
CUDNN_9 = 9
NEWEST_CUDNN = "9.28"  # what pip takes on the day of the facts (cudnn_releases)


def drop_folder(library: Library, env: Environment | None) -> Fix:
    """Return how to take the one folder off the path; the others on it may be needed (WSL's, a cluster's modules)."""
    folder = str(either(library.path, "")).rpartition("/")[0].rstrip("/")
    listed = ((env.get(PATH) if env is not None else None) or "").split(":")
    kept = [each for each in listed if each and each.rstrip("/") != folder]
    alone = not kept or len(kept) == len(
        [each for each in listed if each]
    )  # the folder may be on it under another name
    return Fix(
        id="unset-ld-library-path",
        title="Drop the path that puts that cuDNN first",
        action="command",
        text=f"unset {PATH}" if alone else f"export {PATH}={search_path(kept)}",
        gain=unblocks("TensorFlow finds the cuDNN it was built for"),
        effort_minutes=1,
    )


def raise_cudnn(tensorflow: TensorFlow, built: str, devices: Devices | None) -> tuple[Fix, ...]:
    major = int(built.partition(".")[0])
    bound = f">={built},<{major + 1}"
    oldest = min(devices.compute_capabilities, default=None) if devices is not None else None
    last = cudnn_releases.last_with(oldest) if oldest is not None and major == CUDNN_9 else None
    if last is not None and cudnn_releases.has_code_for(NEWEST_CUDNN, oldest or 0) is False:
        bound = f">={built},{cudnn_releases.next_after(last)}"
    cuda = versions.parse(either(tensorflow.cuda_version, "12"))[0]
    commands = {
        "official_wheel": f"pip install 'nvidia-cudnn-cu{cuda}{bound}'",
        "conda": f"conda install -c conda-forge 'cudnn{bound}'",
    }
    text = commands.get(either(tensorflow.origin, ""))
    fix = Fix(
        id="raise-cudnn",
        title=f"Install cuDNN {built} or newer",
        action="command" if text else "manual",
        text=text or f"Put cuDNN {built} or newer ({major}.x) first on the library path, then restart Python",
        gain=unblocks("convolutions and recurrent layers need it"),
        effort_minutes=3,
    )
    return (fix,)


def keep_older_cudnn(tensorflow: TensorFlow, oldest: int, last: str | None) -> tuple[Fix, ...]:
    if last is None:
        return ()
    origin, version = either(tensorflow.origin, ""), either(tensorflow.version, "")
    bound = cudnn_releases.next_after(last)
    cuda = (versions.parse(either(tensorflow.cuda_version, "")) or (12,))[0]
    text, release = f"pip install 'nvidia-cudnn-cu{cuda}{bound}'", None
    if origin == "official_wheel" and version and tensorflow_releases.defect("conv-autotuner-old-cudnn", version):
        package = with_cuda(version, (oldest,))
        text, release = f"pip install {package.words}", package.release
    if origin == "conda":
        text = f"conda install -c conda-forge 'cudnn{bound}'"
    by_pip = origin in {"official_wheel", "conda"}
    return (
        Fix(
            id="keep-older-cudnn",
            title=f"Keep cuDNN {last}, the last for this GPU",
            action="command" if by_pip else "manual",
            text=text if by_pip else f"Use an image or build with cuDNN {last} or older of the same major version",
            gain=unblocks("convolutions and recurrent layers run again"),
            effort_minutes=3,
            release=release if by_pip else None,
        ),
    )
