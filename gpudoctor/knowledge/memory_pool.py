"""How much GPU memory TensorFlow takes at start: what is free, less a reserve for the driver and other libraries.

With the default mapping nvidia-smi therefore shows a nearly full GPU whatever the model needs; the share that is taken
says nothing of use. Facts of 2026-11-30.
"""

from __future__ import annotations

from gpudoctor.knowledge import versions

MIB = 1 << 20
# tensorflow/core/common_runtime/gpu/gpu_device.cc, function MinSystemMemory (a tree of 2.13 or newer; older trees end
# at 1536 MiB for 8.0 and newer, still older ones: the larger of 300 MiB and 5 %).
SOURCE = "tensorflow/core/common_runtime/gpu/gpu_device.cc, MinSystemMemory"
_SMALL_GPU_BYTES = 2048 * MIB
_SMALL_RESERVE_BYTES = 225 * MIB
_RESERVES_BYTES = {7: 1050 * MIB, 8: 1536 * MIB}
_OLD_RESERVE_BYTES = 500 * MIB
_NEW_RESERVE_BYTES = 1800 * MIB
_HOPPER_MAJOR = 9


def reserve_bytes(free_bytes: int, cc: str | int) -> int:
    """Return what TensorFlow leaves free of `free_bytes` on a GPU of this compute capability."""
    if free_bytes < _SMALL_GPU_BYTES:
        return _SMALL_RESERVE_BYTES
    major = versions.capability(cc) // 10
    newest = _NEW_RESERVE_BYTES if major >= _HOPPER_MAJOR else _OLD_RESERVE_BYTES
    return _RESERVES_BYTES.get(major, newest)


def pool_bytes(free_bytes: int, cc: str | int) -> int:
    """Return the size of the pool that TensorFlow maps at start without memory growth."""
    return max(0, free_bytes - reserve_bytes(free_bytes, cc))
