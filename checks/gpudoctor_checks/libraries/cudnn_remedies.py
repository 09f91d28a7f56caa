"""Cures of a cuDNN that does not fit: as a wheel where there is one for it, by conda in conda, else by hand."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Devices, Fix, Host, Log, Python, cudnn_releases, either, tensorflow_releases, versions
from gpudoctor_checks.said import by_hand, command, on_windows, stated

FIRST_AS_WHEEL = (
    8  # PyPI has nvidia-cudnn-cu11 and -cu12 from 8.5 on, nothing for cuDNN 7 and older; and none for Windows' loader
)
MAJOR_THAT_DROPPED = "9"  # cuDNN 9.11 left out the GPUs before Turing
CONDA_AWAY = command(
    "remove-conda-cudnn",
    "Remove the older cuDNN that comes first",
    "conda remove --force cudnn",
    why="the pip wheel's own cuDNN is then found",
)


def fitting_cudnn(
    compiled: str, version: str, log: Log, python: Python | None, host: Host | None, devices: Devices | None
) -> Iterator[Fix]:
    table = tensorflow_releases.release_of(version) if versions.is_version(version) else None
    wanted = compiled or (table.cudnn_version if table is not None else None) or ""
    major = wanted.split(".")[0]
    conda = stated(log, "conda") == "yes" or (python is not None and either(python.manager, "") == "conda")
    suffix = "cu11" if major == "8" and (table is None or not (table.cuda_version or "11").startswith("12")) else "cu12"
    oldest = min(devices.compute_capabilities, default=None) if devices is not None else None
    last = cudnn_releases.last_with(oldest) if oldest is not None and major == MAJOR_THAT_DROPPED else None
    below = cudnn_releases.next_after(last) if last else f"<{int(major) + 1}" if major.isdecimal() else ""
    bound = f">={wanted},{below}" if major.isdecimal() else ""
    if not conda and (on_windows(host) or (major.isdecimal() and int(major) < FIRST_AS_WHEEL)):
        yield _by_hand(wanted, windows=on_windows(host))
        return
    yield command(
        "install-fitting-cudnn",
        "Put the cuDNN of this build first",
        f"pip install 'nvidia-cudnn-{suffix}{bound}' && export LD_LIBRARY_PATH=$(python -c"
        " 'import nvidia.cudnn as c; print(list(c.__path__)[0])')/lib:$LD_LIBRARY_PATH"
        if not conda
        else f"conda install -c conda-forge 'cudnn{bound}'",
        why="same major, at least the same minor version, found first; restart Python",
        minutes=5,
    )
    if conda:  # nobody else has the command
        yield CONDA_AWAY


def _by_hand(wanted: str, *, windows: bool) -> Fix:
    exact = f"{versions.minor(wanted)} (at least {wanted})" if wanted.count(".") else wanted
    place = "its bin folder first on PATH" if windows else "its lib folder first on LD_LIBRARY_PATH"
    return by_hand(
        "install-fitting-cudnn",
        "Put the cuDNN of this build first",
        f"Install cuDNN {exact} for this build's CUDA and put {place}; on a Jetson the JetPack of this TensorFlow brings it",
        why="same major, at least the same minor version, found first; restart Python",
        minutes=20,
    )


def older_cudnn(devices: Devices | None) -> Fix:
    oldest = min(devices.compute_capabilities, default=0) if devices is not None else 0
    last = cudnn_releases.last_with(oldest) if oldest else None
    return by_hand(
        "install-older-cudnn",
        "Install the last cuDNN that knows the GPU",
        f"pip install 'nvidia-cudnn-cu12{cudnn_releases.next_after(last)}'"
        if last
        else "Install an older cuDNN of the same major",
        why="newer cuDNN releases left this GPU out",
    )
