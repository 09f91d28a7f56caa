"""CUDA toolkits 10.1 to 13.5: the drivers they need, the GPUs they know, the libraries they bring.

Two driver numbers, never to be mixed up: `minimum_driver` runs binary code of any toolkit of the same major, while PTX
needs the driver of the toolkit that made it. Facts of 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpudoctor.knowledge import versions
from gpudoctor.knowledge.row import Row

if TYPE_CHECKING:
    TOOLKITS: tuple[Toolkit, ...]
    ARCHITECTURES: tuple[Architecture, ...]

# NVIDIA CUDA Compatibility guide, page minor-version-compatibility; CUDA 13.2 U2 release notes table 2; exact 12.x patch
# numbers from the cuDNN support matrix and the 12.0 GA row. Windows 13.x: not published by driver number, R580 or newer.
_MINOR_COMPAT_LINUX = MappingProxyType({11: "450.80.02", 12: "525.60.13", 13: "580.65.06"})
_MINOR_COMPAT_WINDOWS = MappingProxyType({11: "452.39", 12: "527.41", 13: "580"})

BACKWARD_COMPATIBLE = "A newer driver runs what was built for an older toolkit."
PTX_RULE = (
    "The driver compiles PTX only up to the PTX version of its own CUDA version: a PTX-only kernel of a newer toolkit "
    "fails with CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222), although binary code of the same major runs."
)
PTX_RULE_SOURCE = (
    "ptxas 12.5.82 run: accepts .version 8.5, rejects 8.6; ptxas 12.9.86: accepts 8.8, rejects 8.9; text of "
    "cudaErrorUnsupportedPtxVersion in the CUDA runtime API"
)
NVIDIA_SMI_CUDA_VERSION = (
    '"CUDA Version" in nvidia-smi is the newest CUDA API that the driver supports (cuDriverGetVersion), never the '
    "installed toolkit."
)
NVIDIA_SMI_SOURCE = "NVIDIA data-centre driver documentation, CUDA Toolkit, Driver, and Architecture Matrix"
WSL_MINIMUM_DRIVER = "528.33"  # tensorflow/docs install/pip.md: for WSL on Windows, written for CUDA 12.x
# Inside the nvidia-cuda-nvcc-cu11 and -cu12 wheels 11.7 to 12.9, below site-packages.
LIBDEVICE_PATH = "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"
PTXAS_PATH = "nvidia/cuda_nvcc/bin/ptxas"
UNRELEASED = MappingProxyType({"12.7": "no such toolkit; drivers of branch R565 report it"})

# libcudart ... libcusparse: cuda_config.h of TensorFlow wheels 2.4 to 2.22.0rc0 (CUDA 11.0's libcusolver is .so.10);
# CUDA 13: the known pattern, not opened.
_SONAMES_11 = MappingProxyType(
    {
        "libcudart": "libcudart.so.11.0",
        "libcublas": "libcublas.so.11",
        "libcublasLt": "libcublasLt.so.11",
        "libcufft": "libcufft.so.10",
        "libcurand": "libcurand.so.10",
        "libcusolver": "libcusolver.so.11",
        "libcusparse": "libcusparse.so.11",
        "libnccl": "libnccl.so.2",
    }
)
_SONAMES_12 = MappingProxyType(
    {
        "libcudart": "libcudart.so.12",
        "libcublas": "libcublas.so.12",
        "libcublasLt": "libcublasLt.so.12",
        "libcufft": "libcufft.so.11",
        "libcurand": "libcurand.so.10",
        "libcusolver": "libcusolver.so.11",
        "libcusparse": "libcusparse.so.12",
        "libnccl": "libnccl.so.2",
    }
)
_SONAMES_13 = MappingProxyType(
    {
        "libcudart": "libcudart.so.13",
        "libcublas": "libcublas.so.13",
        "libcublasLt": "libcublasLt.so.13",
        "libcurand": "libcurand.so.10",
        "libnccl": "libnccl.so.2",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForwardCompatibility(Row):
    """Running a newer CUDA major on an older driver by the cuda-compat package: who may, and how it fails."""

    rule: str
    not_supported_on_device: int
    system_driver_mismatch: int
    source: str


FORWARD_COMPAT = ForwardCompatibility(
    rule="Data-centre GPUs (and selected NGC-ready RTX) may run a newer major on an older driver through the cuda-compat "
    "package; GeForce may not.",
    not_supported_on_device=804,
    system_driver_mismatch=803,
    source="general CUDA documentation; not re-read",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Toolkit(Row):
    """One minor release. `updates`: (name, Linux driver, Windows driver) in order; `sm_supported` are numbers (86 = 8.6).

    `driver_*` ship with the first release; from 13.1 on the Windows installer has none (None).
    """

    version: str
    driver_linux: str | None
    driver_windows: str | None
    updates: tuple[tuple[str, str | None, str | None], ...]
    sm_supported: tuple[int, ...]
    sm_arch_specific: tuple[str, ...]
    sm_added: tuple[int, ...]
    sm_dropped: tuple[int, ...]
    ptx_isa: str | None
    ptx_isa_checked: bool
    gcc_max: int
    clang_max: int | None
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Architecture(Row):
    """One GPU architecture; `last_toolkit` and `last_branch` (driver) are None while support goes on."""

    name: str
    compute_capabilities: tuple[str, ...]
    first_toolkit: str
    last_toolkit: str | None
    last_branch: str | None
    source: str


def toolkit(version: str) -> Toolkit | None:
    """Return the row of that minor release ("12.5.1" gives 12.5), or None."""
    return _toolkits().get(versions.parse(version)[:2])


def minimum_driver(cuda_version: str, *, windows: bool = False) -> str | None:
    """Return the oldest driver that runs binary code of this toolkit; None for an unknown one.

    From CUDA 11 on that is one number for the whole major. With `windows`, compare it with the number that WSL reports.
    """
    fields = versions.parse(cuda_version)
    if not fields:
        return None
    known = (_MINOR_COMPAT_WINDOWS if windows else _MINOR_COMPAT_LINUX).get(fields[0])
    return known or (toolkit_driver(cuda_version, windows=windows) if fields[0] < 11 else None)


def toolkit_driver(cuda_version: str, *, windows: bool = False) -> str | None:
    """Return the driver that came with this minor release, which certainly compiles its PTX; None where unknown."""
    row = toolkit(cuda_version)
    return None if row is None else row.driver_windows if windows else row.driver_linux


def ptx_driver(cuda_version: str, *, windows: bool = False) -> str | None:
    """Return the oldest known driver that compiles this toolkit's PTX: of the first toolkit with the same PTX version.

    CUDA 12.6 writes the PTX version of 12.5, so the driver of 12.5 is enough. None where unknown.
    """
    row = toolkit(cuda_version)
    if row is None or row.ptx_isa is None:
        return None
    first = next(each for each in _toolkits().values() if each.ptx_isa == row.ptx_isa)
    return first.driver_windows if windows else first.driver_linux


def cuda_of_driver(driver_version: str, *, windows: bool = False) -> str | None:
    """Return the CUDA version that this driver's branch reports ("580.95.05" gives "13.0"), or None."""
    from gpudoctor.knowledge import drivers  # noqa: PLC0415  # most askers know it from NVML

    branch = drivers.branch_of(driver_version, windows=windows)
    return None if branch is None else branch.cuda_reported


def sonames(cuda_version: str) -> Mapping[str, str]:
    """Return library name to file name for this toolkit on Linux; empty for one that is not known."""
    fields = versions.parse(cuda_version)
    if fields[:2] == (11, 0):
        return {**_SONAMES_11, "libcusolver": "libcusolver.so.10"}
    return {11: _SONAMES_11, 12: _SONAMES_12, 13: _SONAMES_13}.get(fields[0], {}) if fields else {}


def architecture(cc: str | int) -> Architecture | None:
    """Return the architecture of a compute capability as NVIDIA's matrix lists it, or None where it does not."""
    number = versions.capability(cc)
    wanted = f"{number // 10}.{number % 10}"
    return next((each for each in _architectures() if wanted in each.compute_capabilities), None)


@cache
def _toolkits() -> dict[tuple[int, ...], Toolkit]:
    from gpudoctor.knowledge.cuda_toolkits_data import TOOLKITS as rows  # noqa: N811, PLC0415  # on first use

    return {versions.parse(each.version): each for each in rows}


def _architectures() -> tuple[Architecture, ...]:
    from gpudoctor.knowledge.cuda_toolkits_data import ARCHITECTURES as rows  # noqa: N811, PLC0415  # on first use

    return rows


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "TOOLKITS":
            return tuple(_toolkits().values())
        if name == "ARCHITECTURES":
            return _architectures()
        raise AttributeError(name)
