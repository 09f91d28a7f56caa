"""Which errors of TensorFlow mean that memory ended: not only ResourceExhaustedError.

Most places in TensorFlow answer a refused request with the status RESOURCE_EXHAUSTED. Others pass on what the layer below
said, or the next consequence of it:

- a copy to the GPU into a tensor that could not be made: INTERNAL, "Dst tensor is not initialized" (tensorflow
  core/common_runtime/gpu/gpu_util.cc; github.com/tensorflow/tensorflow/issues/7025);
- cuDNN's engines tried one by one: NOT_FOUND, "No algorithm worked!", with each engine's own status behind it
  (core/kernels/gpu_utils.cc; issues 60713: UNKNOWN: CUDNN_STATUS_ALLOC_FAILED, rwth-i6/returnn/issues/1457);
- cuDNN, cuBLAS, cuSOLVER and cuFFT: UNKNOWN or INTERNAL with their status, ..._ALLOC_FAILED;
- the driver: INTERNAL with CUDA_ERROR_OUT_OF_MEMORY, the runtime's "out of memory" (xla stream_executor/cuda);
- XLA: "Out of memory while trying to allocate", "Failed to allocate request for" (stream_executor memory allocators).

"Failed to create cuDNN handle", "Blas GEMM launch failed" and an engine's CUDNN_STATUS_EXECUTION_FAILED may follow a
shortage, too, but a broken installation as well: they stay errors.
Runs under the target interpreter: Python 3.8, standard library only.
"""

from __future__ import annotations

import re

BY_TYPE = frozenset({"ResourceExhaustedError", "MemoryError"})
WORDS = re.compile(
    r"RESOURCE_EXHAUSTED|Resource exhausted|OOM when allocating|Dst tensor is not initialized"
    r"|\bCU[A-Z]+_(?:STATUS_)?ALLOC_FAILED|CUDA_ERROR_OUT_OF_MEMORY|\b[Oo]ut of memory\b"
    r"|\b[Ff]ailed to allocate (?:request|memory|device memory|\d)"
)


def is_shortage(error: BaseException) -> bool:
    """Return whether the error means that memory ended, whatever its type."""
    return type(error).__name__ in BY_TYPE or WORDS.search(str(error)) is not None
