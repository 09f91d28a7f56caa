"""The real TensorFlow environments that system tests examine, and copies of them with a fault, made of links.

An environment with the nvidia wheels is 6 GB, so a copy is a farm of links; what a fault changes is replaced in the copy.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

CPU = "GPUDOCTOR_TEST_TENSORFLOW"
GPU = "GPUDOCTOR_TEST_TENSORFLOW_GPU"


def cpu_python() -> Path:
    """Return a Python that can train: the variable's, or the one that runs the tests; skip the test where neither can."""
    named = os.environ.get(CPU)
    if named:
        return Path(named)
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip(f"no TensorFlow: not for the Python that runs the tests, and {CPU} names no other")
    return Path(sys.executable)


def gpu_python() -> Path:
    """Return a Python with the GPU build of TensorFlow and its nvidia wheels; skip the test where none is named."""
    named = os.environ.get(GPU)
    if not named:
        pytest.skip(f"{GPU} names no Python with tensorflow[and-cuda]")
    return Path(named)


def skip_where_there_is_a_gpu() -> None:
    """Skip a test of a machine without a GPU where there is one."""
    nodes = [*Path("/dev").glob("nvidia[0-9]*"), Path("/dev/dxg")]
    if any(node.exists() for node in nodes):
        pytest.skip("this machine has an NVIDIA GPU")


def site_of(python: Path) -> Path:
    """Return the site-packages of an environment's interpreter."""
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return Path(subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip())


def copy_of(python: Path, folder: Path) -> tuple[Path, Path]:
    """Copy an environment as a farm of links; return the copy's interpreter and site-packages.

    Folders are real, so that a file can be taken away or replaced without touching the original.
    """
    original, site = python.parent.parent, site_of(python)
    copy = folder / "venv"
    subprocess.run(["cp", "-rs", f"{original.resolve()}/.", str(copy)], check=True)
    return copy / "bin" / python.name, copy / site.resolve().relative_to(original.resolve())
