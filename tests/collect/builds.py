"""Fabricates Python environments with a TensorFlow build and its libraries: the layout of the real ones, without weight.

The files have the real names, search paths and links between each other; what is in them no test here looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gpudoctor.collect.interpreter import Interpreter
from tests.collect.shared_objects import write_elf

Kind = Literal["official", "conda", "ngc", "source"]

CUDNN_9_PARTS = ("graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled", "heuristic")
# Folder under site-packages/nvidia -> distribution, version, libraries with what they are linked to, RUNPATH.
WHEELS: dict[str, tuple[str, str, dict[str, tuple[str, ...]], str]] = {
    "cuda_runtime": ("nvidia-cuda-runtime-cu12", "12.5.82", {"libcudart.so.12": ()}, ""),
    "cublas": (
        "nvidia-cublas-cu12",
        "12.5.3.2",
        {"libcublas.so.12": ("libcublasLt.so.12",), "libcublasLt.so.12": ()},
        "$ORIGIN",
    ),
    "cufft": ("nvidia-cufft-cu12", "11.2.3.61", {"libcufft.so.11": ()}, ""),
    "cusolver": (
        "nvidia-cusolver-cu12",
        "11.6.3.83",
        {"libcusolver.so.11": ("libcublas.so.12", "libcusparse.so.12", "libnvJitLink.so.12")},
        "$ORIGIN/../../cublas/lib:$ORIGIN/../../nvjitlink/lib:$ORIGIN/../../cusparse/lib",
    ),
    "cusparse": (
        "nvidia-cusparse-cu12",
        "12.5.1.3",
        {"libcusparse.so.12": ("libnvJitLink.so.12",)},
        "$ORIGIN/../../nvjitlink/lib",
    ),
    "cudnn": ("nvidia-cudnn-cu12", "9.3.0.75", {}, "$ORIGIN"),
    "nccl": ("nvidia-nccl-cu12", "2.25.1", {"libnccl.so.2": ()}, ""),
    "cuda_cupti": ("nvidia-cuda-cupti-cu12", "12.5.82", {"libcupti.so.12": ()}, ""),
    "nvjitlink": ("nvidia-nvjitlink-cu12", "12.5.82", {"libnvJitLink.so.12": ()}, ""),
}
SEARCHED = ("cuda_runtime", "cublas", "cufft", "cusolver", "cusparse", "cudnn", "nccl", "cuda_cupti")
CONFIG = {
    "TF_CUDA_VERSION": '"12.5.1"',
    "TF_CUDART_VERSION": '"12"',
    "TF_CUPTI_VERSION": '"12"',
    "TF_CUBLAS_VERSION": '"12"',
    "TF_CUSOLVER_VERSION": '"11"',
    "TF_CURAND_VERSION": '"10"',
    "TF_CUFFT_VERSION": '"11"',
    "TF_CUSPARSE_VERSION": '"12"',
    "TF_CUDNN_VERSION": '"9"',
    "TF_CUDA_COMPUTE_CAPABILITIES": "60, 70, 80, 89, 90",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A fabricated environment: its interpreter's facts, its site-packages, and an empty machine root."""

    interpreter: Interpreter
    site: Path
    root: Path


def make_build(
    tmp_path: Path,
    *,
    kind: Kind = "official",
    name: str = "tensorflow",
    version: str = "2.20.0",
    cuda: bool = True,
    cuda_keys: bool = True,
    config: bool = True,
    runpath: Sequence[str] = SEARCHED,
    without: Sequence[str] = (),
) -> Build:
    """Make an environment under tmp_path: a TensorFlow of that kind, and the nvidia wheels (conda: its packages)."""
    prefix, root = tmp_path / "env", tmp_path / "root"
    site = prefix / "lib/python3.11/site-packages"
    root.mkdir(parents=True, exist_ok=True)
    _tensorflow(site, cuda=cuda, cuda_keys=cuda_keys, config=config)
    _metadata(site, kind, name, version)
    if kind == "conda":
        _conda(prefix, site, version)
    else:
        folders = ":".join(f"$ORIGIN/../nvidia/{folder}/lib" for folder in runpath) if cuda else ""
        write_elf(site / "tensorflow/libtensorflow_framework.so.2", runpath=folders)
        for folder, (wheel_name, wheel_version, libraries, search) in WHEELS.items():
            if folder not in without and cuda:
                _wheel_files(site, folder, libraries, search)
                wheel(site, wheel_name, wheel_version, folder, _names(folder, libraries))
    interpreter = Interpreter(
        version="3.11.7", executable=prefix / "bin/python", prefix=prefix, base_prefix=Path("/usr"), path=(site,)
    )
    return Build(interpreter=interpreter, site=site, root=root)


def make_cudnn(prefix: Path, version: str, *, folder: str = "lib") -> None:
    """Put a cuDNN of that version with all its parts and its header under prefix/folder and prefix/include."""
    major, minor, patch = version.split(".")
    for name in (f"libcudnn.so.{major}", *(f"libcudnn_{part}.so.{major}" for part in CUDNN_9_PARTS)):
        write_elf(prefix / folder / name, runpath="$ORIGIN")
    header = f"#define CUDNN_MAJOR {major}\n#define CUDNN_MINOR {minor}\n#define CUDNN_PATCHLEVEL {patch}\n"
    _write(prefix / "include/cudnn_version.h", header)


def wheel(site: Path, name: str, version: str, folder: str, files: Sequence[str]) -> None:
    """Write the metadata of an nvidia wheel that owns these files of site-packages/nvidia/folder/lib."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    _write(info / "RECORD", "".join(f"nvidia/{folder}/lib/{file},sha256=x,1\n" for file in files))


def _names(folder: str, libraries: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    parts = ("libcudnn.so.9", *(f"libcudnn_{part}.so.9" for part in CUDNN_9_PARTS)) if folder == "cudnn" else ()
    return (*libraries, *parts)


def _wheel_files(site: Path, folder: str, libraries: dict[str, tuple[str, ...]], search: str) -> None:
    for file, needed in libraries.items():
        write_elf(site / f"nvidia/{folder}/lib" / file, needed=(*needed, "libc.so.6"), runpath=search)
    if folder == "cudnn":
        make_cudnn(site / "nvidia/cudnn", "9.3.0")


def _tensorflow(site: Path, *, cuda: bool, cuda_keys: bool, config: bool) -> None:
    package = site / "tensorflow"
    _write(package / "__init__.py", "raise ImportError('files are read, not imported')\n")
    keys = [("is_cuda_build", cuda), ("is_rocm_build", False), ("is_tensorrt_build", False)]
    if cuda and cuda_keys:
        codes = ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"]
        keys += [("cuda_compute_capabilities", codes), ("cuda_version", "12.5.1"), ("cudnn_version", "9")]  # type: ignore[list-item]
    info = f'"""Made by the build."""\nimport collections\n\nbuild_info = collections.OrderedDict({keys!r})\n'
    _write(package / "python/platform/build_info.py", info)
    if config:
        values = CONFIG if cuda else dict.fromkeys(CONFIG, '""')
        lines = "".join(f"#define {name} {value}\n" for name, value in values.items())
        header = f"#ifndef CUDA_CUDA_CONFIG_H_\n#define CUDA_CUDA_CONFIG_H_\n\n{lines}\n#endif\n"
        _write(package / "include/third_party/gpus/cuda/cuda_config.h", header)


def _metadata(site: Path, kind: Kind, name: str, version: str) -> None:
    tag = "cp311-cp311-manylinux_2_17_x86_64" if kind == "official" else "cp311-cp311-linux_x86_64"
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    _write(info / "WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
    _write(info / "INSTALLER", "conda\n" if kind == "conda" else "pip\n")
    _write(info / "RECORD", "tensorflow/__init__.py,sha256=x,1\n")


def _conda(prefix: Path, site: Path, version: str) -> None:
    """Conda puts all libraries into prefix/lib and gives TensorFlow a search path to there."""
    write_elf(site / "tensorflow/libtensorflow_framework.so.2", rpath="$ORIGIN/../../../")
    for _, _, libraries, _ in WHEELS.values():
        for file, needed in libraries.items():
            write_elf(prefix / "lib" / file, needed=needed, rpath="$ORIGIN")
    for file in ("libcudnn.so.9", *(f"libcudnn_{part}.so.9" for part in CUDNN_9_PARTS)):
        write_elf(prefix / "lib" / file, rpath="$ORIGIN")
    for record in ("cudnn-9.3.0.75-h3060b56_0", f"tensorflow-base-{version}-cuda120py311h_0"):
        _write(prefix / f"conda-meta/{record}.json", "{}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
