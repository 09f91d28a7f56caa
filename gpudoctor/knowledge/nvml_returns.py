"""NVML's return codes: name, meaning, what to do, and the word that the snapshot uses for each.

`status` is a word of ours, not NVML's text: the text changes between drivers. Facts of 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.knowledge.row import Row

_NVML_H = "NVIDIA/go-nvml gen/nvml/nvml.h; nvidia-ml-py 13.615.71 pynvml.py"
UNKNOWN_STATUS = "unknown_error"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NvmlReturn(Row):
    """One code. `advice` is empty where nothing helpful is known."""

    code: int
    name: str
    status: str
    meaning: str
    advice: str = ""
    source: str = _NVML_H


NVML_RETURNS: tuple[NvmlReturn, ...] = (
    NvmlReturn(
        code=0,
        name="NVML_SUCCESS",
        status="ok",
        meaning="The operation was successful",
    ),
    NvmlReturn(
        code=1,
        name="NVML_ERROR_UNINITIALIZED",
        status="uninitialized",
        meaning="NVML was not first initialized with nvmlInit()",
        advice="call nvmlInit first (tool bug)",
    ),
    NvmlReturn(
        code=2,
        name="NVML_ERROR_INVALID_ARGUMENT",
        status="invalid_argument",
        meaning="A supplied argument is invalid",
        advice="tool bug or index out of range",
    ),
    NvmlReturn(
        code=3,
        name="NVML_ERROR_NOT_SUPPORTED",
        status="not_supported",
        meaning="The requested operation is not available on target device",
        advice="the GPU, driver or platform (WSL2, Jetson, vGPU, MIG, GeForce) does not offer this query: show n/a, do not fail",
    ),
    NvmlReturn(
        code=4,
        name="NVML_ERROR_NO_PERMISSION",
        status="no_permission",
        meaning="The current user does not have permission for operation",
        advice="needs root, or the container hides the device",
    ),
    NvmlReturn(
        code=5,
        name="NVML_ERROR_ALREADY_INITIALIZED",
        status="already_initialized",
        meaning="Deprecated: Multiple initializations are now allowed through ref counting",
    ),
    NvmlReturn(
        code=6,
        name="NVML_ERROR_NOT_FOUND",
        status="not_found",
        meaning="A query to find an object was unsuccessful",
        advice="query found nothing",
    ),
    NvmlReturn(
        code=7,
        name="NVML_ERROR_INSUFFICIENT_SIZE",
        status="insufficient_size",
        meaning="An input argument is not large enough",
    ),
    NvmlReturn(
        code=8,
        name="NVML_ERROR_INSUFFICIENT_POWER",
        status="insufficient_power",
        meaning="A device's external power cables are not properly attached",
        advice="external power cables not attached",
    ),
    NvmlReturn(
        code=9,
        name="NVML_ERROR_DRIVER_NOT_LOADED",
        status="driver_not_loaded",
        meaning="NVIDIA driver is not loaded",
        advice="kernel module not loaded: driver not installed, Secure Boot, DKMS build failed after a kernel update; or a container without GPU access",
    ),
    NvmlReturn(
        code=10,
        name="NVML_ERROR_TIMEOUT",
        status="timeout",
        meaning="User provided timeout passed",
        advice="try again",
    ),
    NvmlReturn(
        code=11,
        name="NVML_ERROR_IRQ_ISSUE",
        status="irq_issue",
        meaning="NVIDIA Kernel detected an interrupt issue with a GPU",
        advice="kernel interrupt problem with a GPU",
    ),
    NvmlReturn(
        code=12,
        name="NVML_ERROR_LIBRARY_NOT_FOUND",
        status="library_not_found",
        meaning="NVML Shared Library couldn't be found or loaded",
        advice="libnvidia-ml.so.1 / nvml.dll not found: no driver in this OS or container",
    ),
    NvmlReturn(
        code=13,
        name="NVML_ERROR_FUNCTION_NOT_FOUND",
        status="function_not_found",
        meaning="Local version of NVML doesn't implement this function",
        advice="driver older than the binding: fall back to an older function",
    ),
    NvmlReturn(
        code=14,
        name="NVML_ERROR_CORRUPTED_INFOROM",
        status="corrupted_inforom",
        meaning="infoROM is corrupted",
        advice="warn: infoROM corrupted",
    ),
    NvmlReturn(
        code=15,
        name="NVML_ERROR_GPU_IS_LOST",
        status="gpu_lost",
        meaning="The GPU has fallen off the bus or has otherwise become inaccessible",
        advice="GPU fell off the bus (see Xid 79): reboot, check hardware",
    ),
    NvmlReturn(
        code=16,
        name="NVML_ERROR_RESET_REQUIRED",
        status="reset_required",
        meaning="The GPU requires a reset before it can be used again",
        advice="GPU needs a reset (nvidia-smi --gpu-reset) or a reboot",
    ),
    NvmlReturn(
        code=17,
        name="NVML_ERROR_OPERATING_SYSTEM",
        status="blocked_by_os",
        meaning="The GPU control device has been blocked by the operating system/cgroups",
        advice="device blocked by the OS or cgroups (container without --gpus, SLURM constraint)",
    ),
    NvmlReturn(
        code=18,
        name="NVML_ERROR_LIB_RM_VERSION_MISMATCH",
        status="version_mismatch",
        meaning="RM detects a driver/library version mismatch",
        advice='user-space library and kernel module differ ("Driver/library version mismatch"): the driver was updated without a reboot, or a container brings its own libraries',
    ),
    NvmlReturn(
        code=19,
        name="NVML_ERROR_IN_USE",
        status="in_use",
        meaning="An operation cannot be performed because the GPU is currently in use",
        advice="GPU in use",
    ),
    NvmlReturn(
        code=20,
        name="NVML_ERROR_MEMORY",
        status="out_of_memory",
        meaning="Insufficient memory",
        advice="out of memory",
    ),
    NvmlReturn(
        code=21,
        name="NVML_ERROR_NO_DATA",
        status="no_data",
        meaning="No data",
    ),
    NvmlReturn(
        code=22,
        name="NVML_ERROR_VGPU_ECC_NOT_SUPPORTED",
        status="vgpu_ecc_not_supported",
        meaning="The requested vgpu operation is not available on target device, because ECC is enabled",
    ),
    NvmlReturn(
        code=23,
        name="NVML_ERROR_INSUFFICIENT_RESOURCES",
        status="insufficient_resources",
        meaning="Ran out of critical resources, other than memory",
        advice="ran out of resources",
    ),
    NvmlReturn(
        code=24,
        name="NVML_ERROR_FREQ_NOT_SUPPORTED",
        status="freq_not_supported",
        meaning="Frequency not supported (the header repeats the text of code 23 by mistake)",
    ),
    NvmlReturn(
        code=25,
        name="NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
        status="argument_version_mismatch",
        meaning="The provided version is invalid/unsupported",
        advice="struct version of the binding not supported by the driver",
    ),
    NvmlReturn(
        code=26,
        name="NVML_ERROR_DEPRECATED",
        status="deprecated",
        meaning="The requested functionality has been deprecated",
        advice="use the newer function",
    ),
    NvmlReturn(
        code=27,
        name="NVML_ERROR_NOT_READY",
        status="not_ready",
        meaning="The system is not ready for the request",
        advice="try later",
    ),
    NvmlReturn(
        code=28,
        name="NVML_ERROR_GPU_NOT_FOUND",
        status="gpu_not_found",
        meaning="No GPUs were found",
        advice="no GPU",
    ),
    NvmlReturn(
        code=29,
        name="NVML_ERROR_INVALID_STATE",
        status="invalid_state",
        meaning="Resource not in correct state to perform requested operation",
    ),
    NvmlReturn(
        code=30,
        name="NVML_ERROR_RESET_TYPE_NOT_SUPPORTED",
        status="reset_type_not_supported",
        meaning="Reset not supported for given device/parameters",
    ),
    NvmlReturn(
        code=999,
        name="NVML_ERROR_UNKNOWN",
        status="unknown_error",
        meaning="An internal driver error occurred",
        advice="internal driver error: see kernel log",
    ),
)
_BY_CODE = {each.code: each for each in NVML_RETURNS}


def word(code: int) -> str:
    """Return the snapshot's word for the code: "ok", "driver_not_loaded" ...; an unknown code is an unknown error."""
    known = _BY_CODE.get(code)
    return UNKNOWN_STATUS if known is None else known.status
