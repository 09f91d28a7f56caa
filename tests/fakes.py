"""Compiles the native fakes on demand and puts a whole described machine around a process, for any test.

Compiled libraries are kept in the system's temporary folder under a hash of their sources: building them in the tree
would be tempting, and a stale or foreign binary could then be tested, or committed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fake_nvml.figures import cuda_devices
from tests.fake_nvml.scenarios import FURTHER_SCENARIOS, SCENARIOS, Scenario
from tests.sysroot import Container, Machine, PciGpu, Sysroot, build

__all__ = [
    "FURTHER_SCENARIOS",
    "SCENARIOS",
    "VARIANTS",
    "Container",
    "Machine",
    "PciGpu",
    "Scenario",
    "Sysroot",
    "cuda_library",
    "environment",
    "make_sysroot",
    "nvml_library",
    "wait_until_it_hangs",
]

VARIANTS: dict[str, tuple[str, ...]] = {
    "full": (),
    "old_symbols": ("-DOLD_SYMBOLS",),
    "no_throttle_names": ("-DNO_THROTTLE_NAMES",),
    "wide_process_v3": ("-DWIDE_PROCESS_V3",),
}
_HERE = Path(__file__).parent
_SIGTERM = 1 << (signal.SIGTERM - 1)  # in the masks of /proc
_FLAGS = ("-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-function")


def nvml_library(variant: str = "full") -> Path:
    """Return the folder that holds this build of libnvidia-ml.so.1; skip the test where there is no gcc."""
    return _compiled(_HERE / "fake_nvml" / "nvml.c", "libnvidia-ml.so.1", VARIANTS[variant])


def cuda_library() -> Path:
    """Return the folder that holds libcuda.so.1; skip the test where there is no gcc."""
    return _compiled(_HERE / "fake_cuda" / "cuda.c", "libcuda.so.1", ())


def make_sysroot(tmp_path: Path, *, variant: str = "full", **options: Any) -> Sysroot:
    """Build the root of the machine that `options` (the fields of Machine) describe, under tmp_path/root.

    The environment returned makes a process see that root and its libraries; it plays no NVML scenario yet.
    """
    return _build(tmp_path, Machine(**options), variant)  # Any: Machine names and checks the options


def environment(scenario: Scenario, tmp_path: Path) -> dict[str, str]:
    """Build the scenario's machine under tmp_path and return the whole environment to run a process in.

    Nothing is inherited but PATH, so that no variable of the test machine adds a cause. FAKE_NVML_LOG receives the
    calls made (tmp_path/nvml-calls.log).
    """
    home, text = tmp_path / "home", tmp_path / "scenario.txt"
    home.mkdir(parents=True, exist_ok=True)
    text.write_text(scenario.text, encoding="utf-8")
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        **_build(tmp_path, scenario.machine, scenario.variant).environment,
        "FAKE_NVML_SCENARIO": str(text),
        "FAKE_NVML_JOB": str(os.getpid()),
        "FAKE_NVML_LOG": str(tmp_path / "nvml-calls.log"),
        "FAKE_CUDA_INIT": str(scenario.cu_init),
        "FAKE_CUDA_VERSION": _cuda_version(scenario.text),
        "FAKE_CUDA_DEVICES": cuda_devices(scenario.gpus),
    }


def wait_until_it_hangs(process: subprocess.Popen[str]) -> None:
    """Return when the process is stuck in a call of a fake: no signal but KILL reaches it any more."""
    status, limit = Path(f"/proc/{process.pid}/status"), time.monotonic() + 60
    while not int(status.read_text(encoding="ascii").partition("SigBlk:")[2].split()[0], 16) & _SIGTERM:
        assert time.monotonic() < limit
        time.sleep(0.02)


def _build(tmp_path: Path, machine: Machine, variant: str) -> Sysroot:
    libraries = {
        "libcuda": cuda_library() / "libcuda.so.1",
        "libnvidia-ml": nvml_library(variant) / "libnvidia-ml.so.1",
    }
    return build(tmp_path / "root", machine, libraries)


def _cuda_version(text: str) -> str:
    return next(line.removeprefix("cuda=") for line in text.splitlines() if line.startswith("cuda="))


def _compiled(source: Path, name: str, flags: tuple[str, ...]) -> Path:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("the native fakes need gcc, which is not on PATH")
    command = [gcc, *_FLAGS, *flags, f"-Wl,-soname,{name}", str(source)]
    digest = hashlib.sha256(source.read_bytes() + "\0".join(command[1:-1]).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gpudoctor-fakes-{os.getuid()}-{digest}"
    library = folder / name
    if not library.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        unfinished = folder / f"{name}.{os.getpid()}"  # renamed when whole: test processes run side by side
        subprocess.run([*command, "-o", str(unfinished)], check=True)
        unfinished.rename(library)
    return folder
