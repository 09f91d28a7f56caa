"""GD256: the log of a run says that XLA lacks libdevice or ptxas.

What it does
    Reads libdevice and ptxas that were not found from the text of a run, and an XLA_FLAGS that points elsewhere.

Why it matters
    Without libdevice XLA compiles nothing, and Keras optimizers from 2.11 on use XLA. Without ptxas the driver compiles:
    slow, but it works.

How to fix
    Install CUDA's compiler in the environment that trains (cuda-nvcc, or the nvidia-cuda-nvcc wheel), and let XLA_FLAGS
    name the folder that holds nvvm/libdevice. A slim "-base" image has neither: take the -gpu or -devel one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import (
    Environment,
    Finding,
    Fix,
    Host,
    Log,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    weigh_faulty,
)
from gpudoctor_checks.said import by_hand, command, container_of, events, log_finding, on_windows, stated

FLAG = re.compile(r"--xla_gpu_cuda_data_dir=(\S+)")
ENVIRONMENT = re.compile(r"/envs/([^/\s]+)")
SEE = 'echo "$XLA_FLAGS"; find "${CONDA_PREFIX:-/usr/local/cuda}" -name libdevice.10.bc'
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
SEE_ON_WINDOWS = 'echo %XLA_FLAGS% & where /R "%CUDA_PATH%" libdevice.10.bc'
ON_WINDOWS = command(
    "libdevice-beside-script",
    "Put libdevice where XLA looks",
    'xcopy /E /I "%CUDA_PATH%\\nvvm\\libdevice" nvvm\\libdevice',
    why="XLA also looks in the folder it is started in; XLA_FLAGS takes no path with spaces",
    minutes=1,
)
FULL_IMAGE = by_hand(
    "image-with-ptxas",
    "Use an image that has ptxas",
    "Take tensorflow/tensorflow:VERSION-gpu, or build on nvidia/cuda:...-devel instead of ...-base",
    why="a -base image has no ptxas, so the driver compiles everything",
)


@check(
    code="GD256",
    slug="xla-tools-in-log",
    title="The log says XLA lacks libdevice or ptxas",
    family="libraries",
    cause="xla-libdevice-ptxas",
    core=False,
)
def lacking(
    log: Log,
    env: Environment | None,
    python: Python | None,
    host: Host | None,
    tensorflow: TensorFlow | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Judge libdevice first: without it nothing compiles."""
    device, tool = events(log, "libdevice_missing"), events(log, "ptxas_missing")
    flag = FLAG.search((env.get("XLA_FLAGS") if env is not None else None) or "")
    stray = flag is not None and _elsewhere(flag[1], env, python)
    slim = "-base" in stated(log, "container_image") or "-base" in stated(log, "other")
    if not device and not tool and not stray and not slim:
        return
    lines = (*device, *tool, *(each for each in events(log, "variable") if each.values.get("name") == "XLA_FLAGS"))
    if stray:
        yield log_finding(
            "XLA_FLAGS points to another environment's folder.",
            weigh_faulty(0.9 if device else 0.7, baseline),
            lines,
            POINT_HERE,
            CONDA_NVCC,
            cause="xla-libdevice-ptxas",
            know=SEE,
        )
        return
    yield log_finding(
        "XLA finds no libdevice, so nothing that it compiles can run."
        if device
        else "There is no ptxas: the driver compiles.",
        weigh_faulty(0.95 if device else 0.85 if tool else 0.55, baseline),
        lines,
        *_fixes(log, python, host, tensorflow, only_ptxas=not device),
        cause="xla-libdevice-ptxas",
        know=(SEE_ON_WINDOWS if on_windows(host) else SEE) if device else "",
        severity=Severity.ERROR if device else Severity.WARNING,
    )


def _elsewhere(folder: str, env: Environment | None, python: Python | None) -> bool:
    """Return whether the flag names an environment, and none that is known to be this one."""
    named = ENVIRONMENT.search(folder)
    own = either(python.prefix, "") if python is not None else ""
    active = (env.get("CONDA_PREFIX") if env is not None else None) or own
    return named is not None and f"/envs/{named[1]}" not in active


def _of_release(tensorflow: TensorFlow | None) -> Fix:
    """Return the compiler of the CUDA that the release is built for; before CUDA 11 no wheel of it exists."""
    cuda = either(tensorflow.cuda_version, None) if tensorflow is not None else None
    major = (cuda or "").partition(".")[0]
    if major == "11":
        return replace(PIP_NVCC, text=PIP_NVCC.text.replace("-cu12", "-cu11"))
    return COPY_HERE if major.isdecimal() and int(major) < OLDEST_WHEELS else PIP_NVCC


def _fixes(
    log: Log, python: Python | None, host: Host | None, tensorflow: TensorFlow | None, *, only_ptxas: bool
) -> tuple[Fix, ...]:
    conda = stated(log, "conda") == "yes" or (python is not None and either(python.manager, "") == "conda")
    tools = ON_WINDOWS if on_windows(host) else CONDA_NVCC if conda else _of_release(tensorflow)
    return (FULL_IMAGE, tools) if only_ptxas and container_of(host) else (tools,)
