"""GPU models: what a row holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge.row import Row

Kind = Literal["datacenter", "workstation", "geforce", "mobile", "jetson"]


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
