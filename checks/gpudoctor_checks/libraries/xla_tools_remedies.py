"""Where XLA's own tools, libdevice and ptxas, come from: one fix for each way in which CUDA can be installed."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import Fix, Host, Log, Python, TensorFlow, either
from gpudoctor_checks.said import by_hand, command, container_of, on_windows, stated

POINT_HERE = command(
    "xla-flags-here",
    "Point XLA_FLAGS at this environment",
    'export XLA_FLAGS="--xla_gpu_cuda_data_dir=${CONDA_PREFIX:-$VIRTUAL_ENV}"',
    why="XLA looks for nvvm/libdevice below that folder",
    minutes=1,
)
CONDA_NVCC = command(
    "install-cuda-nvcc",
    "Install CUDA's compiler for XLA",
    'conda install -c nvidia cuda-nvcc && export XLA_FLAGS="--xla_gpu_cuda_data_dir=$CONDA_PREFIX"',
    why="it brings libdevice and ptxas",
    minutes=5,
)
PIP_NVCC = command(
    "install-cuda-nvcc",
    "Install CUDA's compiler for XLA",
    "pip install nvidia-cuda-nvcc-cu12 && export XLA_FLAGS=--xla_gpu_cuda_data_dir=$(python -c"
    " 'import nvidia.cuda_nvcc as c; print(list(c.__path__)[0])')  # in conda: conda install -c nvidia cuda-nvcc",
    why="it brings libdevice and ptxas",
    minutes=5,
)
OLDEST_WHEELS = 11  # PyPI: nvidia-cuda-nvcc-cu11 is the first
COPY_HERE = command(
    "libdevice-beside-script",
    "Put libdevice where XLA looks",
    'cp "$(find "${CONDA_PREFIX:-/usr/local/cuda}" /usr/local/cuda* -name "libdevice*.10.bc" 2>/dev/null | head -n 1)" libdevice.10.bc',
    why="XLA also looks in the folder it is started in; the CUDA of this release brings the file",
    minutes=1,
)
ON_WINDOWS = command(
    "libdevice-beside-script",
    "Put libdevice where XLA looks",
    'xcopy /E /I "%CUDA_PATH%\\nvvm\\libdevice" nvvm\\libdevice',
    why="XLA also looks in the folder it is started in; XLA_FLAGS takes no path with spaces",
    minutes=1,
)
PTXAS_OF_TOOLKIT = command(
    "ptxas-of-toolkit",
    "Point XLA at the CUDA that has ptxas",
    'export XLA_FLAGS="--xla_gpu_cuda_data_dir=$(dirname "$(dirname "$(find "${CONDA_PREFIX:-/usr/local/cuda}" /usr/local/cuda* -name ptxas'
    ' 2>/dev/null | head -n 1)")")"  # none is found: install the toolkit of this CUDA',
    why="XLA looks for bin/ptxas below that folder",
    minutes=2,
)
PTXAS_ON_WINDOWS = command(
    "ptxas-of-toolkit",
    "Put the CUDA that has ptxas on PATH",
    'set "PATH=%CUDA_PATH%\\bin;%PATH%"',
    why="XLA starts ptxas.exe from there; without it the driver compiles",
    minutes=1,
)
FULL_IMAGE = by_hand(
    "image-with-ptxas",
    "Use an image that has ptxas",
    "Take tensorflow/tensorflow:VERSION-gpu, or build on nvidia/cuda:...-devel instead of ...-base",
    why="a -base image has no ptxas, so the driver compiles everything",
)


def _of_release(tensorflow: TensorFlow | None) -> Fix:
    """Return the compiler of the CUDA that the release is built for; before CUDA 11 no wheel of it exists."""
    cuda = either(tensorflow.cuda_version, None) if tensorflow is not None else None
    major = (cuda or "").partition(".")[0]
    if major == "11":
        return replace(PIP_NVCC, text=PIP_NVCC.text.replace("-cu12", "-cu11"))
    return COPY_HERE if major.isdecimal() and int(major) < OLDEST_WHEELS else PIP_NVCC


def tools_for(
    log: Log, python: Python | None, host: Host | None, tensorflow: TensorFlow | None, *, only_ptxas: bool
) -> tuple[Fix, ...]:
    """Return where libdevice and ptxas come from, for who trains with conda, pip or on Windows."""
    conda = stated(log, "conda") == "yes" or (python is not None and either(python.manager, "") == "conda")
    tools = ON_WINDOWS if on_windows(host) else CONDA_NVCC if conda else _of_release(tensorflow)
    if only_ptxas and tools.id == COPY_HERE.id:  # libdevice is there
        tools = PTXAS_ON_WINDOWS if on_windows(host) else PTXAS_OF_TOOLKIT
    return (FULL_IMAGE, tools) if only_ptxas and container_of(host) else (tools,)
