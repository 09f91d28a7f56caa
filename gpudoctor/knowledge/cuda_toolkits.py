"""CUDA toolkits 10.1 to 13.5: the drivers they need, the GPUs they know, the libraries they bring.

Two driver numbers, never to be mixed up: `minimum_driver` runs binary code of any toolkit of the same major, while PTX
needs the driver of the toolkit that made it. Facts of 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpudoctor.knowledge import versions

if TYPE_CHECKING:
    from gpudoctor.knowledge.rows import cuda_toolkits as rows_of

    Architecture = rows_of.Architecture
    Toolkit = rows_of.Toolkit
    TOOLKITS: tuple[Toolkit, ...]
    ARCHITECTURES: tuple[Architecture, ...]

# NVIDIA CUDA Compatibility guide, page minor-version-compatibility; CUDA 13.2 U2 release notes table 2; exact 12.x patch
# numbers from the cuDNN support matrix and the 12.0 GA row. Windows 13.x: not published by driver number, R580 or newer.
_MINOR_COMPAT_LINUX = MappingProxyType({11: "450.80.02", 12: "525.60.13", 13: "580.65.06"})
_MINOR_COMPAT_WINDOWS = MappingProxyType({11: "452.39", 12: "527.41", 13: "580"})


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


def toolkit(version: str) -> Toolkit | None:
    """Return the row of that minor release ("12.5.1" gives 12.5), or None."""
    return _toolkits().get(versions.parse(version)[:2])


def newest() -> str:
    """Return the newest minor release of the table."""
    return ".".join(map(str, max(_toolkits())))


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
