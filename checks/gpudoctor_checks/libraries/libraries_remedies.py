"""How the libraries that a log names as missing are provided: in conda by conda, else by the and-cuda extra, else by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import (
    Fix,
    Host,
    Log,
    Python,
    TensorFlow,
    cuda_toolkits,
    either,
    tensorflow_releases,
    versions,
)
from gpudoctor_checks.libraries.provide import FIRST_WITH_EXTRA
from gpudoctor_checks.remedies import with_cuda
from gpudoctor_checks.said import by_hand, command, container_of, first, newest, on_windows, stated

# "libcudnn_cnn_infer.so.8", "cudart64_110.dll" (11.0), "cudnn64_8.dll"
LIBRARY = re.compile(
    r"(?:lib)?(?P<stem>[a-zA-Z]+?)(?:64)?(?:_[a-z_]+)?(?:\.so(?:\.(?P<major>\d+))?|_(?P<number>\d{1,3})\.dll)"
)
NUMBERED = re.compile(r"lib(?P<stem>[a-zA-Z]+)\S*?\.so\.(?P<number>\d{1,2}(?:\.\d{1,2})?)$")
NAME_IT = "TF_CPP_MAX_VLOG_LEVEL=3 python -c 'import tensorflow as tf; tf.config.list_physical_devices()' 2>&1 | grep -i 'dlopen\\|dynamic library'"
CONDA = {"cudart": "cudatoolkit", "cudnn": "cudnn", "cublas": "libcublas", "cublasLt": "libcublas"}
RESTORE_PATH = by_hand(
    "restore-library-path",
    "Find the missing library, restore its folder",
    f"{NAME_IT}   # names it; then put its folder back on LD_LIBRARY_PATH",
    why="the loader searches there; environment modules overwrite the variable",
)


ZLIB = by_hand(
    "install-zlib",
    "Put zlibwapi.dll beside cuDNN",
    "Take zlibwapi.dll, 64 bits, from where NVIDIA's installation guide of cuDNN 8 for Windows points to, and put its folder on PATH",
    why="cuDNN 8 for Windows opens it and does not bring it along",
)
WITH_EXTRA = newest(
    "install-tensorflow-with-cuda",
    "TensorFlow with its CUDA libraries",
    "pip install {}",
    why="this environment has no CUDA runtime at all; the extra brings it, from TensorFlow 2.14 on",
)
NEWER = newest(
    "install-tensorflow",
    "Or a release that brings its CUDA along",
    "pip install {}",
    why="from 2.15 on the extra serves CUDA 12",
    minutes=60,
    risk="medium",
)


def exact_version(version: str) -> str:
    """Return a version that can be asked for: of "2.16" the newest patch."""
    table = tensorflow_releases.release_of(version) if versions.is_version(version) else None
    return table.latest if table is not None and version == versions.minor(version) else version


def in_conda(log: Log, python: Python | None) -> bool:
    return stated(log, "conda") == "yes" or (python is not None and either(python.manager, "") == "conda")


def fixes_for(
    version: str,
    library: str,
    log: Log,
    host: Host | None,
    python: Python | None,
    tensorflow: TensorFlow | None,
    capabilities: tuple[int, ...],
    *,
    named: bool,
) -> Iterator[Fix]:
    if library.startswith("zlib"):
        yield ZLIB
        return
    if in_conda(log, python):
        yield _from_conda(library, host, tensorflow)
        return
    table = tensorflow_releases.release_of(version) if versions.is_version(version) else None
    if table is not None and versions.at_least(version, FIRST_WITH_EXTRA) and table.and_cuda and not container_of(host):
        package = with_cuda(version, capabilities)
        fix = command(
            "install-tensorflow",
            "This TensorFlow with its CUDA libraries",
            f"pip install {package.words}",
            why="the extra brings what this build opens, into its own environment",
            release=package.release,
        )
        told = stated(log, "tf")
        known = bool(told) and told != versions.minor(told)
        # of a release that is not known exactly, the missing library is found first
        yield from (fix, RESTORE_PATH) if named or known or first(log, "cudart_not_loaded") else (RESTORE_PATH,)
        return
    if on_windows(host) or library.endswith(".dll"):
        yield matching(library, tensorflow, host)
        return
    if first(log, "cudart_not_loaded") is not None and not version and not named:
        yield WITH_EXTRA
    if not named or is_there(library, stated(log, "cuda"), stated(log, "cudnn")):
        yield RESTORE_PATH
    yield matching(library, tensorflow, host)
    yield NEWER


def _from_conda(library: str, host: Host | None, tensorflow: TensorFlow | None) -> Fix:
    match = LIBRARY.search(library)
    name = CONDA.get(match["stem"], "cuda-libraries") if match is not None else "cuda-libraries"
    major, (cuda, cudnn) = _major(match), _built_for(tensorflow)
    toolkit = cuda if cuda and not cuda.startswith("12") else major
    exact = ""
    if name == "cudatoolkit" and toolkit:
        exact = f"={toolkit} cudnn{f'={cudnn}' if cudnn and toolkit == cuda else ''}"
    elif name == "cudnn" and major:
        exact = f"={major}"
    path = "" if on_windows(host) else " && export LD_LIBRARY_PATH=$CONDA_PREFIX/lib:$LD_LIBRARY_PATH"
    return command(
        "install-conda-libraries",
        "Install the library in this conda environment",
        f"conda install -c conda-forge {name}{exact}{path}",
        why="pip's CUDA wheels beside conda's break what works",
        minutes=10,
    )


def matching(library: str, tensorflow: TensorFlow | None, host: Host | None) -> Fix:
    match = LIBRARY.search(library)
    major, (cuda, cudnn) = _major(match), _built_for(tensorflow)
    variable = "PATH" if library.endswith(".dll") or on_windows(host) else "LD_LIBRARY_PATH"
    wanted = f"cuDNN {major}" if match is not None and match["stem"].startswith("cudnn") else f"CUDA {major}"
    built = f"CUDA {cuda} and cuDNN {cudnn}" if cuda else wanted.strip()
    return by_hand(
        "install-matching-cuda",
        "Install the CUDA and cuDNN of this build",
        f"Install {built} ({library or 'the missing library'} comes with it), and put its folder on {variable}",
        why="a library of another major version has another name and does not fit",
        minutes=40,
    )


def _built_for(tensorflow: TensorFlow | None) -> tuple[str, str]:
    """Return the versions of CUDA and cuDNN that this TensorFlow is built for, '' where nothing tells them."""
    if tensorflow is None:
        return "", ""
    return either(tensorflow.cuda_version, ""), either(tensorflow.cudnn_version, "")


def _major(match: re.Match[str] | None) -> str:
    return (match["major"] or _dotted(match["number"] or "")) if match is not None else ""


def _dotted(number: str) -> str:
    """Return the number of a DLL's name as a version: "110" is 11.0, "8" is 8."""
    return f"{number[:-1]}.{number[-1]}" if len(number) > 1 else number


def is_there(library: str, cuda: str, cudnn: str) -> bool:
    """Return whether what is said to be installed brings a library of just this name: then it is there and not found."""
    match = NUMBERED.search(library)
    if match is None:
        return False
    number = match["number"]
    if match["stem"].startswith("cudnn"):
        return bool(cudnn) and cudnn.split(".", maxsplit=1)[0] == number
    if not versions.is_version(cuda) or "." not in cuda:
        return False
    known = cuda_toolkits.sonames(cuda)
    return library in known.values() if known else "." in number and versions.minor(cuda) == number


def wrong_major(library: str, cudnn: str, cuda: str) -> str:
    """Return what is installed instead, where its major version is another than the name asks for."""
    match = LIBRARY.search(library)
    major = (match["major"] or "") if match is not None else ""
    installed, name = (cudnn, "cuDNN") if match is not None and match["stem"].startswith("cudnn") else (cuda, "CUDA")
    if not major or not installed or installed.split(".")[0] == major:
        return ""
    return f"{name} {installed} is installed, and {name} {major} is asked for"
