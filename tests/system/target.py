"""Builds a stand-in for the environment that a user trains in: a real Python with the files of an official GPU wheel.

A real TensorFlow with its CUDA wheels is 6 GB; what gpudoctor reads of it without importing it is a few text files and the
dynamic sections of ten libraries. Those are made here, so that each fault of an installation costs a second to build.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# tensorflow[and-cuda] 2.20.0 as pip resolved it: the wheel that brings each library, and its folder below nvidia/.
LIBRARIES: Mapping[str, tuple[str, str]] = {
    "libcudart.so.12": ("nvidia-cuda-runtime-cu12", "cuda_runtime"),
    "libcublas.so.12": ("nvidia-cublas-cu12", "cublas"),
    "libcublasLt.so.12": ("nvidia-cublas-cu12", "cublas"),
    "libcufft.so.11": ("nvidia-cufft-cu12", "cufft"),
    "libcusolver.so.11": ("nvidia-cusolver-cu12", "cusolver"),
    "libcusparse.so.12": ("nvidia-cusparse-cu12", "cusparse"),
    "libcudnn.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_graph.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_ops.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_cnn.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_adv.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_engines_precompiled.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_engines_runtime_compiled.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libcudnn_heuristic.so.9": ("nvidia-cudnn-cu12", "cudnn"),
    "libnccl.so.2": ("nvidia-nccl-cu12", "nccl"),
    "libcupti.so.12": ("nvidia-cuda-cupti-cu12", "cuda_cupti"),
    "libnvJitLink.so.12": ("nvidia-nvjitlink-cu12", "nvjitlink"),
}
# What the real ones link against, read with readelf in the wheels named below.
NEEDED: Mapping[str, tuple[str, ...]] = {
    "libcublas.so.12": ("libcublasLt.so.12",),
    "libcusolver.so.11": ("libnvJitLink.so.12", "libcusparse.so.12", "libcublas.so.12", "libcublasLt.so.12"),
    "libcusparse.so.12": ("libnvJitLink.so.12",),
    "libcudnn_adv.so.9": ("libcudnn_ops.so.9", "libcudnn_graph.so.9"),
    "libcudnn_cnn.so.9": ("libcudnn_ops.so.9", "libcudnn_graph.so.9"),
    "libcudnn_engines_precompiled.so.9": ("libcudnn_graph.so.9",),
    "libcudnn_engines_runtime_compiled.so.9": ("libcudnn_graph.so.9",),
    "libcudnn_heuristic.so.9": ("libcudnn_graph.so.9",),
    "libcudnn_ops.so.9": ("libcudnn_graph.so.9",),
}
OWN_RUNPATH = ":".join(("$ORIGIN", *(f"$ORIGIN/../../{name}/lib" for name in ("cublas", "nvjitlink", "cusparse"))))
WHEELS: Mapping[str, str] = {
    "nvidia-cublas-cu12": "12.9.3.13",
    "nvidia-cuda-cupti-cu12": "12.9.79",
    "nvidia-cuda-nvcc-cu12": "12.9.86",
    "nvidia-cuda-runtime-cu12": "12.9.79",
    "nvidia-cudnn-cu12": "9.10.2.21",
    "nvidia-cufft-cu12": "11.4.1.4",
    "nvidia-curand-cu12": "10.3.10.19",
    "nvidia-cusolver-cu12": "11.7.5.82",
    "nvidia-cusparse-cu12": "12.5.10.65",
    "nvidia-nccl-cu12": "2.32.3",
    "nvidia-nvjitlink-cu12": "12.9.86",
}
OTHERS: Mapping[str, str] = {"keras": "3.15.1", "numpy": "2.4.6", "protobuf": "7.36.2", "ml-dtypes": "0.6.0"}
BUILD_INFO = """\"\"\"Auto-generated module providing information about the build.\"\"\"
import collections

build_info = collections.OrderedDict([('cpu_compiler', 'clang 18'), ('cuda_compute_capabilities', ['sm_60', 'sm_70', \
'sm_80', 'sm_89', 'compute_90']), ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True), \
('is_rocm_build', False), ('is_tensorrt_build', False)])
"""
CPU_BUILD_INFO = """\"\"\"Auto-generated module providing information about the build.\"\"\"
import collections

build_info = collections.OrderedDict([('is_cuda_build', False), ('is_rocm_build', False), ('is_tensorrt_build', False)])
"""
CUDA_CONFIG = """#define TF_CUDA_VERSION "12.5.1"
#define TF_CUDART_VERSION "12"
#define TF_CUPTI_VERSION "12"
#define TF_CUBLAS_VERSION "12"
#define TF_CUSOLVER_VERSION "11"
#define TF_CUFFT_VERSION "11"
#define TF_CUSPARSE_VERSION "12"
#define TF_CUDNN_VERSION "9"
#define TF_CUDA_COMPUTE_CAPABILITIES 60, 70, 80, 89, 90
"""
# What the loader searches for the libraries that TensorFlow opens: RUNPATH of the wheel's libtensorflow_framework.
RUNPATH = ":".join(
    f"$ORIGIN/../nvidia/{name}/lib" for name in dict.fromkeys(folder for _, folder in LIBRARIES.values())
)
# Version calls of real libraries, so that --level standard may load these as well.
CALLS: Mapping[str, str] = {
    "libcudart.so.12": "int cudaRuntimeGetVersion(int *v) { *v = 12090; return 0; }",
    "libnccl.so.2": "int ncclGetVersion(int *v) { *v = 23203; return 0; }",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What differs from a sound installation. `without` names distributions, whose files are left out as well."""

    tensorflow: str | None = "2.20.0"
    cpu_only: bool = False
    cudnn: str = "9.10.2.21"
    without: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A built stand-in: the folder of the environment, its interpreter and its site-packages."""

    prefix: Path
    python: Path
    site: Path


def build(prefix: Path, installation: Installation | None = None) -> StandIn:
    """Make the environment in that folder; skip the test where there is no gcc for its libraries."""
    installation = installation or Installation()
    stand_in = _interpreter(prefix)
    wheels = {} if installation.cpu_only else {**WHEELS, "nvidia-cudnn-cu12": installation.cudnn}
    distributions = {**wheels, **OTHERS, **installation.packages}
    for name, version in distributions.items():
        if name not in installation.without:
            _distribution(stand_in.site, name, version, files=_files_of(name), tag="py3-none-manylinux_2_27_x86_64")
    if installation.tensorflow is not None:
        _tensorflow(stand_in.site, installation)
    for soname, (wheel, folder) in LIBRARIES.items():
        if wheel in distributions and wheel not in installation.without:
            place_library(stand_in.site / "nvidia" / folder / "lib", soname, cudnn=installation.cudnn)
    return stand_in


def _interpreter(prefix: Path) -> StandIn:
    """Make what `python -m venv` makes, without pip: a link to the base Python and pyvenv.cfg."""
    base = Path(os.path.realpath(sys.executable))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    site = prefix / "lib" / f"python{version}" / "site-packages"
    site.mkdir(parents=True)
    (prefix / "bin").mkdir()
    for name in ("python", "python3", f"python{version}"):
        (prefix / "bin" / name).symlink_to(base)
    full = ".".join(map(str, sys.version_info[:3]))
    text = f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {full}\n"
    (prefix / "pyvenv.cfg").write_text(text, encoding="utf-8")
    return StandIn(prefix=prefix, python=prefix / "bin" / "python", site=site)


def _distribution(site: Path, name: str, version: str, *, files: tuple[str, ...], tag: str) -> None:
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    _write(folder / "METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    _write(folder / "WHEEL", f"Wheel-Version: 1.0\nGenerator: setuptools (80.9.0)\nTag: {tag}\n")
    _write(folder / "INSTALLER", "pip\n")
    _write(folder / "RECORD", "".join(f"{each},sha256=x,1\n" for each in (*files, f"{folder.name}/METADATA")))


def _files_of(wheel: str) -> tuple[str, ...]:
    return tuple(f"nvidia/{folder}/lib/{soname}" for soname, (name, folder) in LIBRARIES.items() if name == wheel)


def _tensorflow(site: Path, installation: Installation) -> None:
    name = "tensorflow-cpu" if installation.cpu_only else "tensorflow"
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-manylinux_2_17_x86_64"
    _distribution(site, name, str(installation.tensorflow), files=("tensorflow/__init__.py",), tag=tag)
    package = site / "tensorflow"
    _write(package / "__init__.py", 'raise ImportError("a stand-in: no TensorFlow is here to import")\n')
    _write(package / "python/platform/build_info.py", CPU_BUILD_INFO if installation.cpu_only else BUILD_INFO)
    if not installation.cpu_only:
        _write(package / "include/third_party/gpus/cuda/cuda_config.h", CUDA_CONFIG)
    framework = "libtensorflow_framework.so.2"
    shutil.copy2(_compiled(framework, "", "" if installation.cpu_only else RUNPATH), package / framework)


def place_library(folder: Path, soname: str, *, cudnn: str = WHEELS["nvidia-cudnn-cu12"]) -> Path:
    """Put a library of that name into a folder; one of cuDNN with its header, from which its version is read."""
    folder.mkdir(parents=True, exist_ok=True)
    major, minor, patch = (int(part) for part in cudnn.split(".")[:3])
    if soname.startswith("libcudnn"):
        defines = {"MAJOR": major, "MINOR": minor, "PATCHLEVEL": patch}
        text = "".join(f"#define CUDNN_{name} {number}\n" for name, number in defines.items())
        _write(folder.parent / "include" / "cudnn_version.h", text)
    number = major * 10000 + minor * 100 + patch if major >= 9 else major * 1000 + minor * 100 + patch
    call = f"unsigned long cudnnGetVersion(void) {{ return {number}; }}" if soname.startswith("libcudnn.so") else ""
    library = _compiled(soname, CALLS.get(soname, call), OWN_RUNPATH, needed=NEEDED.get(soname, ()))
    shutil.copy2(library, folder / soname)
    return folder / soname


def _compiled(soname: str, code: str, runpath: str, *, needed: tuple[str, ...] = ()) -> Path:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("the stand-in's libraries need gcc, which is not on PATH")
    linker = [f"-Wl,-soname,{soname}", *((f"-Wl,--enable-new-dtags,-rpath,{runpath}",) if runpath else ())]
    linker += [f"-Wl,--no-as-needed,{_compiled(name, '', '')}" for name in needed]  # linked for its name alone
    source = f"{code}\n/* {soname} */\n"
    digest = hashlib.sha256("\0".join((source, *linker)).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gpudoctor-stand-ins-{os.getuid()}"
    library = folder / f"{digest}-{soname}"
    if not library.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        unfinished = folder / f"{digest}.{os.getpid()}"  # renamed when whole: test processes run side by side
        command = [gcc, "-shared", "-fPIC", "-x", "c", "-", *linker, "-o", str(unfinished)]
        subprocess.run(command, input=source.encode(), check=True)
        unfinished.rename(library)
    return library


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
