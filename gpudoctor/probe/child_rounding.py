"""What rounding allows: the number formats of a device, and the error bound of a matrix product in each.

The bounds, for a product of inner length n (u: unit round-off, gamma(n, u) = n u / (1 - n u)):

- float32, any order of summation: gamma(n, 2**-24) |a| |b|. N. J. Higham, Accuracy and Stability of Numerical
  Algorithms, 2nd ed., SIAM 2002, section 3.1.
- TF32 and float16: both inputs are rounded first, which adds 2 v + v**2; the sum runs in float32. P. Blanchard,
  N. J. Higham, F. Lopez, T. Mary, S. Pranesh, Mixed precision block fused multiply-add, SIAM J. Sci. Comput. 42(3), 2020.
  v is 2**-10 for TF32 (10 stored bits, cut off instead of rounded) and 2**-11 for float16. Tensor cores cut off in the
  sum too, so its u is 2**-23: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores,
  PeerJ Computer Science 7:e330, 2021.
- float16 results: rounded at least once. cuBLAS may add up the parts of a split product in float16 (its documentation,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION), a CPU's Eigen the whole product. Rounding errors of either sign grow
  with the root of their number: N. J. Higham, T. Mary, A new approach to probabilistic rounding error analysis, SIAM J.
  Sci. Comput. 41(5), 2019. Allowed are 2 sqrt(n) units; the worst kernel seen (Eigen of TensorFlow 2.4 and 2.15, all in
  float16) uses a quarter of the whole bound, one that sums in float32 less than a tenth.

Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only.
"""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

from .child_bench import Bench

# exp in the softmax: at most 2 units in the last place on a GPU (CUDA C++ Programming Guide, appendix on mathematical
# functions, expf); twice that for other libraries. The division and the logarithm's derivative add one rounding each.
SOFTMAX_ROUNDINGS = 8
# From cc 8.0 on TensorFlow computes float32 products in TF32 unless told otherwise (tf.config.experimental).
TF32_FROM = 80
FAST_MATH_VARIABLES = ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE", "TF_SET_ONEDNN_FPMATH_MODE")
FAST_MATH_UNITS = {"BF16": 2.0**-8, "ANY": 2.0**-8, "TF32": 2.0**-10}


class Format(NamedTuple):
    """How a product is rounded: unit of the inputs (0: exact), of the sum and of the result, and what underflows."""

    name: str
    inputs: float
    total: float
    outcome: float
    underflow: float


FLOAT32 = Format("float32", 0.0, 2.0**-24, 0.0, 2.0**-126)
TF32 = Format("TF32", 2.0**-10, 2.0**-23, 0.0, 2.0**-126)
FLOAT16 = Format("float16", 2.0**-11, 2.0**-23, 2.0**-11, 2.0**-25)


def float32_as(bench: Bench) -> Format:
    """Return what this device makes of a float32 product."""
    if bench.device == "GPU":
        enabled = getattr(bench.tf.config.experimental, "tensor_float_32_execution_enabled", None)
        in_tf32 = enabled is not None and enabled() and bench.compute_capability >= TF32_FROM
        return TF32 if in_tf32 else FLOAT32
    modes = [os.environ.get(each, "").upper() for each in FAST_MATH_VARIABLES]
    unit = max(FAST_MATH_UNITS.get(mode, 0.0) for mode in modes)
    return FLOAT32._replace(name="oneDNN fast math", inputs=unit) if unit else FLOAT32


def gamma(count: float, unit: float) -> float:
    """Return the bound of the relative error of that many roundings."""
    return count * unit / (1 - count * unit)


def product_bound(np: Any, kind: Format, left: Any, right: Any) -> Any:
    """Return the bound of the rounding error of left @ right, entry by entry."""
    length = left.shape[1]
    roundings = 2.0 * math.sqrt(length)  # of the result, where it is narrower than the sum
    rounded = 2 * kind.inputs + kind.inputs**2
    relative = rounded + (1 + rounded) * (gamma(length, kind.total) + gamma(roundings, kind.outcome))
    sizes = np.abs(left).sum(axis=1)[:, None] + np.abs(right).sum(axis=0)[None, :]
    return relative * (np.abs(left) @ np.abs(right)) + kind.underflow * (sizes + roundings)
